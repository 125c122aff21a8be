//! Instructions to goals: a recursive descent over the words.
//!
//! ```text
//! instruction = clause { "and" clause }
//! clause      = ("open" | "close") thing
//!             | ("turn" | "switch") ("on" | "off") thing, the particle also after the thing
//!             | take things [where] "and" put [it] where-to
//!             | (put | push | stack) things [where …] where-to { "and" things where-to }
//! things      = thing { "and" thing }
//! thing       = ["the"] {adjective} noun ["of" thing] | owner "'s" thing | "it"
//! where       = ["not"] preposition thing
//! ```
//!
//! The last "where" of a put is the place, those before it say which object is
//! meant. What these rules do not cover is refused with the words that did not fit.

use crate::goal::{Goal, Part, Phrase, Place, Relation};
use crate::words::{self, Verb};

/// Why an instruction is not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotUnderstood {
    #[error("{0:?} is no verb that I know")]
    Verb(String),
    #[error("{before:?} should be followed by {expected}, not by {found:?}")]
    Unexpected { before: String, expected: &'static str, found: String },
    #[error("nothing that was said before is what {0:?} stands for")]
    Pronoun(String),
    #[error("the instruction is empty")]
    Empty,
    #[error("the instruction has {0} words; I take {MOST_WORDS}")]
    TooLong(usize),
}

/// An instruction has fewer; the descent is as deep as there are words.
const MOST_WORDS: usize = 200;

/// Reads an instruction.
///
/// # Errors
/// Says which words are not understood; nothing is guessed.
pub fn parse(instruction: &str) -> Result<Vec<Goal>, NotUnderstood> {
    let words = words::split(instruction);
    if words.is_empty() {
        return Err(NotUnderstood::Empty);
    }
    if words.len() > MOST_WORDS {
        return Err(NotUnderstood::TooLong(words.len()));
    }
    let mut reader = Reader { words, at: 0, goals: Vec::new(), taken: Vec::new(), last: None };
    reader.instruction()?;
    Ok(reader.goals)
}

type Read<T> = Result<T, NotUnderstood>;

struct Reader {
    words: Vec<String>,
    at: usize,
    goals: Vec<Goal>,
    /// What was picked up and not put down yet.
    taken: Vec<Phrase>,
    /// The place or fixture that was named last: what "it" may stand for.
    last: Option<Phrase>,
}

impl Reader {
    fn instruction(&mut self) -> Read<()> {
        loop {
            self.clause()?;
            if self.at == self.words.len() {
                break;
            }
            if !self.eat("and") && !self.eat("then") {
                return Err(self.unexpected("\"and\" or the end"));
            }
            self.eat("then");
        }
        match self.taken.first() {
            Some(_) => Err(self.unexpected("where to put it")),
            None => Ok(()),
        }
    }

    fn clause(&mut self) -> Read<()> {
        let word = self.peek(0).unwrap_or_default().to_owned();
        let Some((verb, length)) = words::verb(&self.words[self.at..]) else {
            return Err(NotUnderstood::Verb(word));
        };
        self.at += length;
        match verb {
            Verb::Open => {
                let what = self.fixture()?;
                self.goals.push(Goal::Open(what));
            }
            Verb::Close => {
                let what = self.fixture()?;
                self.goals.push(Goal::Close(what));
            }
            Verb::Turn => self.turn()?,
            Verb::Take => {
                self.taken = self.things()?;
                if let Some((not, relation, of)) = self.location()? {
                    self.qualify_taken(not, relation, of);
                }
            }
            Verb::Put | Verb::Push => self.put(verb)?,
        }
        Ok(())
    }

    /// "turn on the stove", "switch stove on".
    fn turn(&mut self) -> Read<()> {
        let mut on = self.particle();
        let what = self.fixture()?;
        on = on.or_else(|| self.particle());
        match on {
            Some(true) => self.goals.push(Goal::TurnOn(what)),
            Some(false) => self.goals.push(Goal::TurnOff(what)),
            None => return Err(self.unexpected("\"on\" or \"off\"")),
        }
        Ok(())
    }

    fn particle(&mut self) -> Option<bool> {
        if self.eat("on") { Some(true) } else { self.eat("off").then_some(false) }
    }

    /// What is opened, closed or turned.
    fn fixture(&mut self) -> Read<Phrase> {
        self.eat("the");
        // "close it", "close"; "the door" is that of what was named.
        let what = if self.eat("it") || self.eat("door") || self.at_end() {
            self.antecedent("it")?
        } else {
            self.thing()?
        };
        self.last = Some(what.clone());
        Ok(what)
    }

    fn put(&mut self, verb: Verb) -> Read<()> {
        loop {
            let mut objects = self.objects()?;
            let (mut relation, mut place) = self.destination()?;
            // Of several in a row the last is where it goes.
            while self.at_location() {
                for object in &mut objects {
                    qualify(object, false, relation, vec![place.clone()]);
                }
                (relation, place) = self.destination()?;
            }
            self.last = Some(place.clone());
            for object in objects {
                let place = place.clone();
                self.goals.push(match verb {
                    Verb::Push => Goal::Push { object, relation, place },
                    _ => Goal::Place { object, relation, place },
                });
            }
            // "… and the other on the right plate": the verb is meant again.
            if self.peek(0) != Some("and") || self.peek(1) == Some("then") {
                return Ok(());
            }
            if words::verb(&self.words[self.at + 1..]).is_some() {
                return Ok(());
            }
            self.at += 1;
        }
    }

    /// What is put: what was taken, what a stack has become, or things named here.
    fn objects(&mut self) -> Read<Vec<Phrase>> {
        if self.eat("them") || self.eat("it") || self.at_location() {
            if !self.taken.is_empty() {
                return Ok(std::mem::take(&mut self.taken));
            }
            return match self.goals.last() {
                Some(Goal::Place { place, .. }) => Ok(vec![place.clone()]),
                _ => Err(NotUnderstood::Pronoun("it".to_owned())),
            };
        }
        self.things()
    }

    /// Where things go: a relation and the place.
    fn destination(&mut self) -> Read<(Relation, Phrase)> {
        let Some((_, relation, mut of)) = self.location()? else {
            return Err(self.unexpected("where it goes"));
        };
        match of.len() {
            1 => Ok((relation, of.remove(0))),
            _ => Err(self.unexpected("one place")),
        }
    }

    fn at_location(&self) -> bool {
        words::preposition(&self.words[self.at..]).is_some()
    }

    /// "next to the plate", "between the plate and the ramekin", "inside".
    fn location(&mut self) -> Read<Option<(bool, Relation, Vec<Phrase>)>> {
        let not = self.eat("not");
        let Some((relation, length)) = words::preposition(&self.words[self.at..]) else {
            return if not { Err(self.unexpected("a preposition")) } else { Ok(None) };
        };
        self.at += length;
        if relation == Relation::Between {
            let first = self.thing()?;
            if !self.eat("and") {
                return Err(self.unexpected("\"and\""));
            }
            return Ok(Some((not, relation, vec![first, self.thing()?])));
        }
        if self.at_end() {
            let what = self.antecedent("it")?;
            return Ok(Some((not, relation, vec![what])));
        }
        if self.eat("it") {
            let what = self.antecedent("it")?;
            // What is put on a drawer is put on its cabinet.
            let what = if relation == Relation::On { what.whole() } else { what };
            return Ok(Some((not, relation, vec![what])));
        }
        let place = self.thing()?;
        // "to the stove's front"
        let (relation, place) = match (&place.part, place.name.rsplit_once(" side ")) {
            (None, Some((owner, side))) => (words::beside(side), Phrase::named(owner)),
            (Some(_), _) if relation == Relation::RightOf => (Relation::In, place),
            _ => (relation, place),
        };
        let relation = match place.part {
            Some(_) => Relation::In,
            None => relation,
        };
        Ok(Some((not, relation, vec![place])))
    }

    fn things(&mut self) -> Read<Vec<Phrase>> {
        let both = self.eat("both");
        let mut things = vec![self.thing()?];
        while self.peek(0) == Some("and") && words::verb(&self.words[self.at + 1..]).is_none() {
            self.at += 1;
            things.push(self.thing()?);
        }
        if both && things.len() == 1 {
            things[0].count = 2;
        }
        Ok(things)
    }

    fn thing(&mut self) -> Read<Phrase> {
        let mut noun: Vec<String> = Vec::new();
        while self.eat("the") || self.eat("a") || self.eat("an") || self.eat("its") {}
        while let Some(word) = self.peek(0) {
            // "yellow and white mug" is one thing.
            let joins = word == "and"
                && noun.last().is_some_and(|last| words::is_colour(last))
                && self.peek(1).is_some_and(words::is_colour);
            if !joins && (words::ends_thing(word) || (!noun.is_empty() && self.at_location())) {
                break;
            }
            noun.push(word.to_owned());
            self.at += 1;
        }
        if noun.is_empty() {
            return Err(self.unexpected("a thing"));
        }
        let mut owner = None;
        if let Some(index) = noun.iter().position(|word| word == "'s") {
            owner = Some(Phrase::named(&noun[..index].join(" ")));
            noun.drain(..=index);
        } else if self.eat("of") {
            owner = Some(self.thing()?);
        }
        name(noun, owner).ok_or_else(|| self.unexpected("a thing that has such a part"))
    }

    fn qualify_taken(&mut self, not: bool, relation: Relation, of: Vec<Phrase>) {
        for object in &mut self.taken {
            qualify(object, not, relation, of.clone());
        }
    }

    fn antecedent(&self, word: &str) -> Read<Phrase> {
        self.last.clone().ok_or_else(|| NotUnderstood::Pronoun(word.to_owned()))
    }

    /// True at the end of a clause.
    fn at_end(&self) -> bool {
        matches!(self.peek(0), None | Some("and" | "then"))
    }

    fn peek(&self, ahead: usize) -> Option<&str> {
        self.words.get(self.at + ahead).map(String::as_str)
    }

    fn eat(&mut self, word: &str) -> bool {
        let there = self.peek(0) == Some(word);
        self.at += usize::from(there);
        there
    }

    fn unexpected(&self, expected: &'static str) -> NotUnderstood {
        NotUnderstood::Unexpected {
            before: self.words[..self.at].join(" "),
            expected,
            found: self.words[self.at..].join(" "),
        }
    }
}

/// Says of an object where it is, or which of several it is.
fn qualify(object: &mut Phrase, not: bool, relation: Relation, of: Vec<Phrase>) {
    match of.first().and_then(|thing| words::side(&thing.name)) {
        Some(side) if of.len() == 1 && !not => object.side = Some(side),
        _ => object.place = Some(Place { not, relation, of }),
    }
}

/// Tells sides, drawers and compartments from names. Nothing where a part has no whole.
fn name(mut noun: Vec<String>, owner: Option<Phrase>) -> Option<Phrase> {
    let last = noun.last().cloned().unwrap_or_default();
    let first = noun.first().cloned().unwrap_or_default();
    let whole = |name: &str, part| {
        let mut phrase = owner.clone().unwrap_or_else(|| Phrase::named(name));
        // "the top layer of the drawer": the drawer is the cabinet then.
        if phrase.name == "drawer" {
            phrase.name = "cabinet".to_owned();
        }
        phrase.part = Some(part);
        Some(phrase)
    };
    if matches!(last.as_str(), "drawer" | "layer") {
        match words::level(&first) {
            Some(level) => return whole("cabinet", Part::Drawer(level)),
            None if owner.is_none() && noun.len() == 1 => return Some(Phrase::named("cabinet")),
            None => {}
        }
    }
    if last == "compartment" {
        return words::side(&first).and_then(|side| whole("caddy", Part::Compartment(side)));
    }
    if let Some(owner) = owner {
        // "the stove's front", "the front of the stove"
        return words::side(&last).map(|_| Phrase::named(&format!("{} side {last}", owner.name)));
    }
    let mut phrase = Phrase { count: 1, ..Phrase::default() };
    if noun.len() > 1 && last == "door" {
        noun.pop();
    }
    if noun.len() > 1 {
        phrase.side = words::side(&first);
        noun.drain(..usize::from(phrase.side.is_some()));
    }
    phrase.name = words::singular(&noun.join(" "));
    Some(phrase)
}
