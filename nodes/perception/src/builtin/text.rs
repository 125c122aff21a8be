//! A phrase as numbers: hashed words, pairs of words and triples of letters.
//!
//! `training/perception/text.py` does the same in Python, with which the net was trained.

/// Words that tell nothing apart.
const STOP_WORDS: [&str; 9] = ["the", "a", "an", "of", "this", "that", "please", "some", "my"];
/// Features are numbered from 1; 0 is none.
const BUCKETS: u32 = 8192;
const WORDS: usize = 12;
const PAIRS: usize = 12;
const TRIPLES: usize = 64;
/// Numbers a phrase has.
pub const SLOTS: usize = WORDS + PAIRS + TRIPLES;

/// Words, then pairs, then triples, each filled up with 0.
pub fn features(phrase: &str) -> [i64; SLOTS] {
    let words = words(phrase);
    let mut slots = [0; SLOTS];
    let (first, rest) = slots.split_at_mut(WORDS);
    let (second, third) = rest.split_at_mut(PAIRS);
    fill(first, words.iter().map(|word| bucket(&format!("w:{word}"))));
    fill(second, words.windows(2).map(|pair| bucket(&format!("p:{} {}", pair[0], pair[1]))));
    let triples = words.iter().flat_map(|word| {
        let letters: Vec<char> = format!("#{word}#").chars().collect();
        let triples = letters.windows(3).map(|three| three.iter().collect::<String>());
        triples.map(|three| bucket(&format!("t:{three}"))).collect::<Vec<_>>()
    });
    fill(third, triples);
    slots
}

fn fill(slots: &mut [i64], features: impl Iterator<Item = i64>) {
    for (slot, feature) in slots.iter_mut().zip(features) {
        *slot = feature;
    }
}

fn words(phrase: &str) -> Vec<String> {
    let kept = |letter: char| if letter.is_alphanumeric() { letter } else { ' ' };
    let text: String = phrase.to_lowercase().chars().map(kept).collect();
    let words = text.split_whitespace().filter(|word| !STOP_WORDS.contains(word));
    words.take(WORDS).map(str::to_owned).collect()
}

fn bucket(feature: &str) -> i64 {
    i64::from(1 + fnv1a(feature) % (BUCKETS - 1))
}

fn fnv1a(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots that are not 0, with their values.
    fn filled(phrase: &str) -> Vec<(usize, i64)> {
        features(phrase).into_iter().enumerate().filter(|(_, value)| *value != 0).collect()
    }

    #[test]
    fn a_phrase_has_the_numbers_that_the_net_was_trained_with() {
        // From training/perception/text.py.
        let wanted = [
            (0, 6543),
            (1, 2626),
            (12, 3881),
            (24, 3763),
            (25, 6240),
            (26, 5742),
            (27, 310),
            (28, 6979),
            (29, 1312),
            (30, 2367),
            (31, 585),
            (32, 3978),
        ];
        assert_eq!(filled("the Black bowl"), wanted);
    }

    #[test]
    fn articles_and_marks_make_no_difference() {
        assert_eq!(features("top drawer of the cabinet!"), features("Top  drawer cabinet"));
        assert_ne!(features("black bowl"), features("bowl black"));
        assert_eq!(filled(""), []);
        assert_eq!(filled("the … of"), []);
    }

    #[test]
    fn any_text_fits() {
        for phrase in ["ø".repeat(10_000), "x ".repeat(10_000), "\u{0}\u{202e}🙂".to_owned()] {
            assert!(
                features(&phrase).iter().all(|&value| (0..i64::from(BUCKETS)).contains(&value))
            );
        }
    }
}
