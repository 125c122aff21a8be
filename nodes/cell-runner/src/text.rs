//! Text for an agent, kept short: the beginning and the end say most.

use std::collections::VecDeque;

/// `text` with at most `limit` characters, cut in the middle.
#[must_use]
pub fn clip(text: &str, limit: usize) -> String {
    let mut capture = Capture::new(limit);
    capture.push(text);
    capture.text()
}

/// Keeps the first and the last half of what is pushed, up to a limit.
#[derive(Debug)]
pub struct Capture {
    half: usize,
    head: String,
    head_chars: usize,
    tail: VecDeque<char>,
    cut: usize,
}

impl Capture {
    /// `limit` is in characters.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { half: limit / 2, head: String::new(), head_chars: 0, tail: VecDeque::new(), cut: 0 }
    }

    pub fn push(&mut self, text: &str) {
        let mut rest = text;
        if self.head_chars < self.half {
            let room = self.half - self.head_chars;
            let (head, after) =
                rest.split_at(rest.char_indices().nth(room).map_or(rest.len(), |(at, _)| at));
            self.head.push_str(head);
            self.head_chars += head.chars().count();
            rest = after;
        }
        // Of a long text only the end is looked at.
        let kept =
            rest.char_indices().rev().take(self.half).last().map_or(rest.len(), |(at, _)| at);
        let cut = rest[..kept].chars().count();
        if cut > 0 {
            self.cut = self.cut.saturating_add(cut + self.tail.len());
            self.tail.clear();
        }
        for char in rest[kept..].chars() {
            if self.tail.len() == self.half {
                self.tail.pop_front();
                self.cut = self.cut.saturating_add(1);
            }
            self.tail.push_back(char);
        }
    }

    /// Leaves out that many characters. What is pushed next must have at least
    /// half as many as the limit, so that nothing older is the tail.
    pub fn skip(&mut self, chars: usize) {
        if chars > 0 {
            self.cut = self.cut.saturating_add(chars).saturating_add(self.tail.len());
            self.tail.clear();
        }
    }

    /// What was kept, with a note where something was cut.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.head.clone();
        if self.cut > 0 {
            text.push_str(&format!("\n... {} characters cut ...\n", self.cut));
        }
        text.extend(&self.tail);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_stays_as_it_is() {
        assert_eq!(clip("héllo", 10), "héllo");
        assert_eq!(clip("0123456789", 10), "0123456789");
    }

    #[test]
    fn long_text_is_cut_in_the_middle() {
        assert_eq!(clip("abcdefghij", 4), "ab\n... 6 characters cut ...\nij");
        let mut capture = Capture::new(4);
        for part in ["abc", "def", "ghij"] {
            capture.push(part);
        }
        assert_eq!(capture.text(), clip("abcdefghij", 4));
        let mut capture = Capture::new(4);
        capture.push("abcd");
        capture.skip(4);
        capture.push("ij");
        assert_eq!(capture.text(), clip("abcdefghij", 4));
    }
}
