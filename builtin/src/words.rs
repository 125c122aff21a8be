//! The words that instructions are made of.

use crate::goal::{Level, Relation, Side};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Open,
    Close,
    Turn,
    Take,
    Put,
    Push,
}

const VERBS: &[(&[&str], Verb)] = &[
    (&["slide", "open"], Verb::Open),
    (&["pull", "open"], Verb::Open),
    (&["open"], Verb::Open),
    (&["close"], Verb::Close),
    (&["shut"], Verb::Close),
    (&["turn"], Verb::Turn),
    (&["switch"], Verb::Turn),
    (&["pick", "up"], Verb::Take),
    (&["pick"], Verb::Take),
    (&["grab"], Verb::Take),
    (&["grasp"], Verb::Take),
    (&["take"], Verb::Take),
    (&["lift"], Verb::Take),
    (&["put"], Verb::Put),
    (&["place"], Verb::Put),
    (&["set"], Verb::Put),
    (&["drop"], Verb::Put),
    (&["stack"], Verb::Put),
    (&["push"], Verb::Push),
    (&["move"], Verb::Push),
    (&["slide"], Verb::Push),
];

/// Longer ones come before those that they begin with.
const PREPOSITIONS: &[(&[&str], Relation)] = &[
    (&["on", "the", "top", "of"], Relation::On),
    (&["on", "top", "of"], Relation::On),
    (&["to", "the", "right", "of"], Relation::RightOf),
    (&["to", "the", "left", "of"], Relation::LeftOf),
    (&["to", "the", "front", "of"], Relation::FrontOf),
    (&["to", "the", "back", "of"], Relation::Behind),
    (&["to", "right"], Relation::RightOf),
    (&["to", "left"], Relation::LeftOf),
    (&["in", "front", "of"], Relation::FrontOf),
    (&["next", "to"], Relation::NextTo),
    (&["close", "to"], Relation::NextTo),
    (&["beside"], Relation::NextTo),
    (&["near"], Relation::NextTo),
    (&["behind"], Relation::Behind),
    (&["between"], Relation::Between),
    (&["under"], Relation::Under),
    (&["inside"], Relation::In),
    (&["into"], Relation::In),
    (&["in"], Relation::In),
    (&["onto"], Relation::On),
    (&["from"], Relation::On),
    (&["on"], Relation::On),
    (&["at"], Relation::On),
    (&["to"], Relation::On),
];

const COLOURS: &[&str] =
    &["black", "white", "yellow", "red", "green", "blue", "brown", "orange", "grey"];

/// Names of makers, which say nothing of how a thing looks.
const BRANDS: &[&str] = &["akita", "chefmate"];

/// Lower-case words without makers' names; "'s" is a word of its own, "yellow-white" is "yellow and white".
pub fn split(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace(['’', '`'], "'").replace("'s ", " 's ");
    let mut words = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, ',' | '.' | ';' | '!')) {
        match word.split_once('-') {
            Some((a, b)) if is_colour(a) && is_colour(b) => {
                words.extend([a.to_owned(), "and".to_owned(), b.to_owned()]);
            }
            _ if word.is_empty() || BRANDS.contains(&word) => {}
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// The verb at the beginning, and its number of words.
pub fn verb(words: &[String]) -> Option<(Verb, usize)> {
    first(VERBS, words)
}

/// The preposition at the beginning, and its number of words.
pub fn preposition(words: &[String]) -> Option<(Relation, usize)> {
    first(PREPOSITIONS, words)
}

fn first<T: Copy>(table: &[(&[&str], T)], words: &[String]) -> Option<(T, usize)> {
    table
        .iter()
        .find(|(pattern, _)| {
            pattern.len() <= words.len() && pattern.iter().zip(words).all(|(p, word)| p == word)
        })
        .map(|(pattern, meaning)| (*meaning, pattern.len()))
}

/// True for words that end the name of a thing.
pub fn ends_thing(word: &str) -> bool {
    matches!(word, "and" | "then" | "of" | "it" | "them" | "not" | "off" | "the" | "both")
}

pub fn is_colour(word: &str) -> bool {
    COLOURS.contains(&word)
}

pub fn side(word: &str) -> Option<Side> {
    Some(match word {
        "left" => Side::Left,
        "right" => Side::Right,
        "front" => Side::Front,
        "back" => Side::Back,
        "middle" => Side::Middle,
        _ => return None,
    })
}

/// The relation to a thing that a side of it means.
pub fn beside(side: &str) -> Relation {
    match side {
        "left" => Relation::LeftOf,
        "right" => Relation::RightOf,
        "front" => Relation::FrontOf,
        "back" => Relation::Behind,
        _ => Relation::NextTo,
    }
}

pub fn level(word: &str) -> Option<Level> {
    Some(match word {
        "top" | "upper" => Level::Top,
        "middle" => Level::Middle,
        "bottom" | "lower" => Level::Bottom,
        _ => return None,
    })
}

/// "moka pots" to "moka pot". Names that end in "s" and are no plural stay.
pub fn singular(name: &str) -> String {
    const PLURALS: &[&str] = &["pots", "bowls", "mugs", "plates", "books", "boxes", "cans", "cups"];
    match PLURALS.iter().find(|plural| name.ends_with(**plural)) {
        Some(plural) => {
            let end = if *plural == "boxes" { 2 } else { 1 };
            name[..name.len() - end].to_owned()
        }
        None => name.to_owned(),
    }
}
