//! One cell for each step of a skill.

use crate::cells::quoted;
use crate::goal::{Level, Phrase, Relation};

/// A cell, with a few words for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub code: String,
    pub title: String,
}

impl Step {
    fn new(code: String, title: String) -> Self {
        Step { code, title }
    }
}

/// Finds a thing and keeps it under a name; `alone` only when it is the only one.
pub fn look(name: &str, words: &str, alone: bool) -> Step {
    let alone = if alone { ", alone=True" } else { "" };
    Step::new(
        format!("look({}, {}{alone})", quoted(name), quoted(words)),
        format!("find the {words}"),
    )
}

/// Finds a thing that was seen before where it is now.
pub fn look_again(name: &str, what: &Phrase) -> Step {
    let words = what.bare().to_string();
    Step::new(
        format!("look_again({}, {})", quoted(name), quoted(&words)),
        format!("find the {words} again"),
    )
}

/// Looks into an open drawer.
pub fn look_into(name: &str, cabinet: &str, level: Level) -> Step {
    let level = level.to_string();
    Step::new(
        format!("look_into({}, {}, {})", quoted(name), quoted(cabinet), quoted(&level)),
        format!("look into the {level} drawer"),
    )
}

pub fn pick(name: &str, object: &Phrase, attempt: usize) -> Step {
    Step::new(format!("pick({}, {attempt})", quoted(name)), format!("take the {}", object.name))
}

/// `share` is -1 or 1 for the first and the second of two that go to the same place.
pub fn put(
    place_name: &str,
    object: &Phrase,
    relation: Relation,
    place: &Phrase,
    share: i8,
) -> Step {
    let share = if share == 0 { String::new() } else { format!(", share={share}") };
    Step::new(
        format!("put({}, {}{share})", quoted(place_name), quoted(&relation.to_string())),
        format!("put the {} {relation} the {}", object.name, place.bare()),
    )
}

/// Looks whether a thing came to be where it should be.
pub fn check(name: &str, object: &Phrase, place_name: &str, relation: Relation) -> Step {
    let [name, words, place] = [name, &object.bare().to_string(), place_name].map(quoted);
    Step::new(
        format!("check({name}, {words}, {place}, {})", quoted(&relation.to_string())),
        format!("see where the {} is", object.name),
    )
}

/// Each attempt leans the hand another way.
pub fn open_drawer(cabinet: &str, level: Level, attempt: usize) -> Step {
    drawer("open", cabinet, level, attempt)
}

pub fn close_drawer(cabinet: &str, level: Level, attempt: usize) -> Step {
    drawer("close", cabinet, level, attempt)
}

fn drawer(verb: &str, cabinet: &str, level: Level, attempt: usize) -> Step {
    Step::new(
        format!("{verb}_drawer({}, {}, {attempt})", quoted(cabinet), quoted(&level.to_string())),
        format!("{verb} the {level} drawer"),
    )
}

pub fn turn_knob(what: &str, on: bool) -> Step {
    let (way, word) = if on { (1, "on") } else { (-1, "off") };
    Step::new(format!("turn_knob({}, {way})", quoted(what)), format!("turn {word} the {what}"))
}
