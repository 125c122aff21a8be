//! From goals to cells: decides by what each cell measured.

use std::collections::BTreeSet;

use crate::cells::{HELPERS, Measured};
use crate::goal::{Goal, Part, Phrase, Place, Relation};
use crate::grammar::parse;
use crate::skills::{self, Step};

/// What runs cells.
pub trait World {
    /// Why no further cell can be run: the task is solved, a budget used up, a stop.
    type Over;

    /// Runs a cell to its end.
    ///
    /// # Errors
    /// The episode is over.
    fn run(&mut self, code: &str, title: &str) -> Result<Ran, Self::Over>;
}

/// What a cell did.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    pub stdout: String,
    /// Why it failed, when it did.
    pub error: Option<String>,
    /// Whether the names that cells had defined are gone.
    pub names_lost: bool,
}

/// How the mind ended an episode that nothing else ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All is done as far as it can see, but nobody confirmed it.
    Finished(String),
    /// It does not know how to go on, and why.
    GaveUp(String),
}

/// How often a thing is tried before it is given up.
const ATTEMPTS: usize = 4;
/// How often all goals are gone through.
const ROUNDS: usize = 2;

/// Plays an instruction to its end.
///
/// # Errors
/// The world ended the episode; that is also how a solved task ends.
pub fn solve<W: World>(instruction: &str, world: &mut W) -> Result<Ending, W::Over> {
    let goals = match parse(instruction) {
        Ok(goals) => goals,
        Err(error) => return Ok(Ending::GaveUp(format!("I do not understand: {error}"))),
    };
    let goals: Vec<Goal> = goals.into_iter().flat_map(each).collect();
    let mut mind =
        Mind { world, shares: shares(&goals), places: places(&goals), seen: BTreeSet::new() };
    if let Some(error) = mind.world.run(HELPERS, "helpers for the cells to come")?.error {
        return Ok(Ending::GaveUp(format!("the helpers failed: {error}")));
    }
    let mut todo: Vec<usize> = (0..goals.len()).collect();
    let mut open = Vec::new();
    for round in 0..ROUNDS {
        open.clear();
        let mut missed = Vec::new();
        for &number in &todo {
            if let Err(Stuck(why)) = mind.reach(number, &goals[number], round)? {
                tracing::info!(goal = %goals[number], why, "not reached");
                open.push(format!("{}: {why}", goals[number]));
                missed.push(number);
            }
        }
        // When all looks done and is not, all is done once more.
        if !missed.is_empty() {
            todo = missed;
        }
    }
    Ok(if open.is_empty() {
        Ending::Finished("every step looks done, but the task is not said to be solved".to_owned())
    } else {
        Ending::GaveUp(open.join("; "))
    })
}

/// Two moka pots are two goals.
fn each(goal: Goal) -> Vec<Goal> {
    let count = match &goal {
        Goal::Place { object, .. } | Goal::Push { object, .. } => object.count,
        _ => 1,
    };
    vec![goal; count]
}

/// Two things that are put in or on the same place share it.
fn shares(goals: &[Goal]) -> Vec<i8> {
    let places: Vec<_> = goals.iter().map(place_of).collect();
    let side = |number: usize| {
        let same = |other: &Option<String>| other.is_some() && *other == places[number];
        if places.iter().filter(|other| same(other)).count() < 2 {
            return 0;
        }
        if places[..number].iter().any(same) { 1 } else { -1 }
    };
    (0..goals.len()).map(side).collect()
}

/// For each goal, the number of the first one with the same place.
fn places(goals: &[Goal]) -> Vec<usize> {
    let words: Vec<_> = goals.iter().map(place_of).collect();
    let first = |number: usize| {
        let same = |other: &Option<String>| other.is_some() && *other == words[number];
        words[..number].iter().position(same).unwrap_or(number)
    };
    (0..goals.len()).map(first).collect()
}

/// Where a goal puts something in or on, in words.
fn place_of(goal: &Goal) -> Option<String> {
    match goal {
        Goal::Place { relation: relation @ (Relation::On | Relation::In), place, .. } => {
            Some(format!("{relation} {place}"))
        }
        _ => None,
    }
}

/// Why a goal was not reached.
struct Stuck(String);

type Reached<W> = Result<Result<(), Stuck>, <W as World>::Over>;

struct Mind<'a, W> {
    world: &'a mut W,
    /// For each goal, which side of its place it takes; 0 is the middle.
    shares: Vec<i8>,
    /// For each goal, the first one with the same place.
    places: Vec<usize>,
    /// Names of things that were found once.
    seen: BTreeSet<String>,
}

impl<W: World> Mind<'_, W> {
    fn reach(&mut self, number: usize, goal: &Goal, round: usize) -> Reached<W> {
        match goal {
            Goal::Place { object, relation, place } | Goal::Push { object, relation, place } => {
                self.place(number, object, *relation, place, round)
            }
            Goal::Open(what) => self.open(what),
            Goal::Close(what) => self.close(what),
            Goal::TurnOn(what) => self.turn(what, true),
            Goal::TurnOff(what) => self.turn(what, false),
        }
    }

    fn place(
        &mut self,
        number: usize,
        object: &Phrase,
        relation: Relation,
        place: &Phrase,
        round: usize,
    ) -> Reached<W> {
        if place.name == "microwave" && relation == Relation::In {
            return Ok(Err(no_skill(place)));
        }
        let object = one_of_several(object, relation, place);
        let (name, place_name) =
            (format!("object {number}"), format!("place {}", self.places[number]));
        let mut why = String::new();
        for attempt in 0..ATTEMPTS {
            let found = self.find(&name, &object)?;
            let found = if found.is_ok() { self.find_place(&place_name, place)? } else { found };
            if found.is_err() {
                return Ok(found);
            }
            let taken = self.step(&skills::pick(&name, &object, attempt + round))?;
            if !taken.is("held") {
                why = taken.text("why").unwrap_or("the fingers closed on nothing").to_owned();
                continue;
            }
            let down = self.step(&skills::put(
                &place_name,
                &object,
                relation,
                place,
                self.shares[number],
            ))?;
            if !down.is("kept") {
                "it was lost on the way".clone_into(&mut why);
                continue;
            }
            let seen = self.step(&skills::check(&name, &object, &place_name, relation))?;
            if seen.is("placed") {
                return Ok(Ok(()));
            }
            "it did not come to rest there".clone_into(&mut why);
        }
        Ok(Err(Stuck(why)))
    }

    /// Finds a thing: by all that is said of it at first, later where it was.
    fn find(&mut self, name: &str, what: &Phrase) -> Reached<W> {
        if self.seen.contains(name) {
            let seen = self.step(&skills::look_again(name, what))?;
            return Ok(if seen.is("found") { Ok(()) } else { Err(unseen(what, &seen)) });
        }
        let mut last = Measured::default();
        for (words, alone) in wordings(what) {
            last = self.step(&skills::look(name, &words, alone))?;
            if last.is("found") {
                self.seen.insert(name.to_owned());
                return Ok(Ok(()));
            }
        }
        Ok(Err(unseen(what, &last)))
    }

    /// Finds where something goes; it is looked for anew each time, as it may have moved.
    fn find_place(&mut self, name: &str, place: &Phrase) -> Reached<W> {
        let Some(Part::Drawer(level)) = place.part else {
            return self.find(name, place);
        };
        let mut seen = self.step(&skills::look_into(name, &place.name, level))?;
        for attempt in 0..ATTEMPTS {
            if seen.is("found") {
                break;
            }
            self.step(&skills::open_drawer(&place.name, level, attempt))?;
            seen = self.step(&skills::look_into(name, &place.name, level))?;
        }
        Ok(if seen.is("found") { Ok(()) } else { Err(unseen(place, &seen)) })
    }

    fn open(&mut self, what: &Phrase) -> Reached<W> {
        let Some(Part::Drawer(level)) = what.part else { return Ok(Err(no_skill(what))) };
        let step = |attempt| skills::open_drawer(&what.name, level, attempt);
        self.until(step, |seen| seen.number("is_open").is_some_and(|out| out > 0.12))
    }

    fn close(&mut self, what: &Phrase) -> Reached<W> {
        let Some(Part::Drawer(level)) = what.part else { return Ok(Err(no_skill(what))) };
        let step = |attempt| skills::close_drawer(&what.name, level, attempt);
        self.until(step, |seen| seen.number("is_open").is_some_and(|out| out < 0.015))
    }

    fn turn(&mut self, what: &Phrase, on: bool) -> Reached<W> {
        let step = |_| skills::turn_knob(&what.name, on);
        self.until(step, |seen| seen.number("moved").is_some_and(|by| by.abs() > 0.4))
    }

    /// Repeats a step, each time another way, until what it measured is enough.
    fn until(
        &mut self,
        step: impl Fn(usize) -> Step,
        enough: impl Fn(&Measured) -> bool,
    ) -> Reached<W> {
        let mut why = "nothing moved".to_owned();
        for attempt in 0..ATTEMPTS {
            let seen = self.step(&step(attempt))?;
            if enough(&seen) {
                return Ok(Ok(()));
            }
            if let Some(reason) = seen.text("why") {
                reason.clone_into(&mut why);
            }
        }
        Ok(Err(Stuck(why)))
    }

    fn step(&mut self, step: &Step) -> Result<Measured, W::Over> {
        Ok(self.cell(step)?.pop().unwrap_or_default())
    }

    fn cell(&mut self, step: &Step) -> Result<Vec<Measured>, W::Over> {
        let ran = self.world.run(&step.code, &step.title)?;
        if let Some(error) = &ran.error {
            tracing::warn!(title = step.title, error, "a cell failed");
        }
        if ran.names_lost {
            self.seen.clear();
            self.world.run(HELPERS, "helpers again, after a crash")?;
        }
        Ok(Measured::all(&ran.stdout))
    }
}

fn no_skill(what: &Phrase) -> Stuck {
    Stuck(format!("I have no skill for the inside or the door of a {what}"))
}

fn unseen(what: &Phrase, seen: &Measured) -> Stuck {
    Stuck(match seen.text("why") {
        Some(why) => format!("I see no {what}: {why}"),
        None => format!("I see no {what}"),
    })
}

/// Of two things that go to the same place, one that is not there yet.
fn one_of_several(object: &Phrase, relation: Relation, place: &Phrase) -> Phrase {
    if object.count < 2 {
        return object.clone();
    }
    let place = Place { not: true, relation, of: vec![place.clone()] };
    Phrase { place: Some(place), ..object.clone() }
}

/// Ways to say it, the fullest first; the vaguest only fits what is there but once.
fn wordings(phrase: &Phrase) -> Vec<(String, bool)> {
    let bare = phrase.bare();
    let mut ways = vec![(phrase.to_string(), false), (bare.to_string(), true)];
    if let Some((_, noun)) = bare.name.rsplit_once(' ')
        && bare.part.is_none()
    {
        ways.push((noun.to_owned(), true));
    }
    ways.dedup_by(|a, b| a.0 == b.0);
    ways
}
