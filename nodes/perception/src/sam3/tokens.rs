//! Words for the language encoder: CLIP's byte-pair encoding.

use instant_clip_tokenizer::{Token, Tokenizer};

use crate::eyes::EyesError;

/// The tokenizer, with the length that the model takes.
pub(super) struct Words {
    tokenizer: Tokenizer,
    context: usize,
}

impl Words {
    pub fn new(context: usize) -> Self {
        Self { tokenizer: Tokenizer::new(), context }
    }

    /// Start, words and end, filled up with zeros.
    ///
    /// # Errors
    /// [`EyesError::Prompt`] when they are too many.
    pub fn tokens(&self, phrase: &str) -> Result<Vec<i64>, EyesError> {
        let mut tokens = vec![self.tokenizer.start_of_text()];
        self.tokenizer.encode(phrase, &mut tokens);
        tokens.push(self.tokenizer.end_of_text());
        if tokens.len() > self.context {
            return Err(EyesError::Prompt { found: tokens.len(), most: self.context });
        }
        let mut tokens: Vec<i64> = tokens.into_iter().map(Token::to_u16).map(i64::from).collect();
        tokens.resize(self.context, 0);
        Ok(tokens)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_those_of_clip() {
        let words = Words::new(32);
        let tokens = words.tokens("a photo of a cat").unwrap();
        assert_eq!(tokens[..8], [49406, 320, 1125, 539, 320, 2368, 49407, 0]);
        assert_eq!(tokens.len(), 32);
        assert_eq!(words.tokens("A Photo of a CAT").unwrap(), tokens);
    }

    #[test]
    fn a_long_prompt_is_refused() {
        let long = "bowl ".repeat(31);
        let error = Words::new(32).tokens(&long).unwrap_err().to_string();
        assert!(error.starts_with("the prompt has 33 tokens, the model takes 32"), "{error}");
    }
}
