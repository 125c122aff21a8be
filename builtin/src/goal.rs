//! What an instruction asks for.

use std::fmt;

/// One thing to bring about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Pick up the object and put it down in this relation to the place.
    Place {
        object: Phrase,
        relation: Relation,
        place: Phrase,
    },
    /// Bring the object there along the table.
    Push {
        object: Phrase,
        relation: Relation,
        place: Phrase,
    },
    Open(Phrase),
    Close(Phrase),
    TurnOn(Phrase),
    TurnOff(Phrase),
}

/// Words for a thing, taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Phrase {
    /// Adjectives and noun in the singular, without an article: "black bowl".
    pub name: String,
    /// How many of them are meant.
    pub count: usize,
    /// Which of several, in the robot's sense: "left plate".
    pub side: Option<Side>,
    /// Which part of it, where not the whole is meant.
    pub part: Option<Part>,
    /// Where it is, where the words say so.
    pub place: Option<Place>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
    Front,
    Back,
    Middle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Drawer(Level),
    Compartment(Side),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Top,
    Middle,
    Bottom,
}

/// Where a thing is said to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// "not between …".
    pub not: bool,
    pub relation: Relation,
    /// One thing, or the two that it is between.
    pub of: Vec<Phrase>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    On,
    In,
    Under,
    NextTo,
    Between,
    LeftOf,
    RightOf,
    FrontOf,
    Behind,
}

impl Phrase {
    pub fn named(name: &str) -> Self {
        Phrase { name: name.to_owned(), count: 1, ..Phrase::default() }
    }

    /// The same thing without where it is and which of several it is.
    pub fn bare(&self) -> Self {
        Phrase { side: None, place: None, ..self.clone() }
    }

    /// The whole of which this is a part.
    pub fn whole(&self) -> Self {
        Phrase { part: None, ..self.clone() }
    }
}

/// The words to look for: "black bowl between the plate and the ramekin".
impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(side) = self.side {
            write!(f, "{side} ")?;
        }
        match self.part {
            Some(Part::Drawer(level)) => write!(f, "{level} drawer of the {}", self.name)?,
            Some(Part::Compartment(side)) => write!(f, "{side} compartment of the {}", self.name)?,
            None => f.write_str(&self.name)?,
        }
        if let Some(place) = &self.place {
            write!(f, "{} {} ", if place.not { " not" } else { "" }, place.relation)?;
            for (index, thing) in place.of.iter().enumerate() {
                write!(f, "{}the {thing}", if index > 0 { " and " } else { "" })?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Left => "left",
            Side::Right => "right",
            Side::Front => "front",
            Side::Back => "back",
            Side::Middle => "middle",
        })
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Top => "top",
            Level::Middle => "middle",
            Level::Bottom => "bottom",
        })
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Relation::On => "on",
            Relation::In => "in",
            Relation::Under => "under",
            Relation::NextTo => "next to",
            Relation::Between => "between",
            Relation::LeftOf => "to the left of",
            Relation::RightOf => "to the right of",
            Relation::FrontOf => "in front of",
            Relation::Behind => "behind",
        })
    }
}

/// The goal in words, for people.
impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Goal::Place { object, relation, place } => {
                write!(f, "place the {object} {relation} the {place}")
            }
            Goal::Push { object, relation, place } => {
                write!(f, "push the {object} {relation} the {place}")
            }
            Goal::Open(what) => write!(f, "open the {what}"),
            Goal::Close(what) => write!(f, "close the {what}"),
            Goal::TurnOn(what) => write!(f, "turn on the {what}"),
            Goal::TurnOff(what) => write!(f, "turn off the {what}"),
        }
    }
}
