//! From a phrase to a noun and words that relate.

/// A longer phrase names no thing.
const MAX_CHARS: usize = 300;
/// Relations within relations at most.
const MAX_DEPTH: usize = 4;

/// What a phrase asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// What it is, in the words of the phrase: `black bowl`.
    pub noun: String,
    /// The part of it that is meant, such as a drawer of a cabinet.
    pub part: Option<Part>,
    /// Which of several it is.
    pub side: Option<Side>,
    /// Where it is, seen from other things.
    pub relations: Vec<Relation>,
}

/// Which of several things, or of the places on one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
    Front,
    Back,
    Middle,
    Top,
    Bottom,
    Largest,
    Smallest,
}

/// Where a thing is, seen from others.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    pub kind: Kind,
    /// "not next to".
    pub negated: bool,
    /// None for [`Kind::Center`], one or two for [`Kind::Between`] ("the plates"), else one.
    pub of: Vec<Query>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    NextTo,
    On,
    In,
    /// On it or in it.
    From,
    Under,
    Between,
    LeftOf,
    RightOf,
    InFrontOf,
    Behind,
    FarthestFrom,
    /// In the middle of the workspace.
    Center,
}

/// A part of a thing that is told by its place alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Drawers lie above each other.
    Drawer(Side),
    /// A caddy's compartments: left, right, and front and back between them.
    Compartment(Side),
    /// The top of it, its front, …
    Place(Side),
}

/// Why a phrase asks for nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PhraseError {
    #[error("the prompt is empty: say what the thing looks like")]
    Empty,
    #[error("the prompt has {found} characters, {MAX_CHARS} at most are allowed: name one thing")]
    Long { found: usize },
    #[error("the prompt {0:?} names no thing to begin with")]
    NoNoun(String),
}

impl Query {
    /// Takes a phrase apart. Words that are not understood stay part of the noun.
    ///
    /// # Errors
    /// [`PhraseError`] when nothing is left that could be looked for.
    pub fn parse(phrase: &str) -> Result<Self, PhraseError> {
        let found = phrase.chars().count();
        if found > MAX_CHARS {
            return Err(PhraseError::Long { found });
        }
        let words = words_of(phrase);
        if words.is_empty() {
            return Err(PhraseError::Empty);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let query = thing(&words, 0);
        match query.noun.is_empty() {
            true => Err(PhraseError::NoNoun(phrase.to_owned())),
            false => Ok(query),
        }
    }

    /// The part by its own name, for eyes that know it: `top drawer of cabinet`.
    #[must_use]
    pub fn part_phrase(&self) -> Option<String> {
        let noun = &self.noun;
        Some(match self.part? {
            Part::Drawer(side) => format!("{} drawer of {noun}", side.word()),
            Part::Compartment(side) => format!("{} compartment of {noun}", side.word()),
            Part::Place(side) => format!("{} of {noun}", side.word()),
        })
    }
}

/// Lower case, without punctuation; "cabinet's" is two words.
fn words_of(phrase: &str) -> Vec<String> {
    let kept = |c: char| match c {
        '\u{2019}' => '\'',
        c if c.is_alphanumeric() || c == '\'' || c == '-' => c,
        _ => ' ',
    };
    let text: String = phrase.to_lowercase().chars().map(kept).collect();
    let text = text.replace("'s ", " 's ");
    text.split_whitespace().map(str::to_owned).collect()
}

const DETERMINERS: [&str; 12] =
    ["the", "a", "an", "this", "that", "some", "one", "both", "all", "two", "three", "my"];
/// Determiners behind which a noun is in the plural.
const PLURAL: [&str; 4] = ["both", "all", "two", "three"];
/// Words that only lead over to a relation.
const FILLERS: [&str; 13] = [
    "that",
    "which",
    "is",
    "are",
    "it",
    "located",
    "placed",
    "sitting",
    "standing",
    "lying",
    "resting",
    "positioned",
    "found",
];
/// What everything stands on, and so tells nothing apart.
const GROUND: [&str; 7] = ["table", "tabletop", "floor", "counter", "desk", "ground", "table top"];

/// Longer ones first, where one begins like another.
const MARKERS: [(&[&str], Kind); 49] = [
    (&["to", "the", "left", "of"], Kind::LeftOf),
    (&["on", "the", "left", "side", "of"], Kind::LeftOf),
    (&["on", "the", "left", "of"], Kind::LeftOf),
    (&["at", "the", "left", "of"], Kind::LeftOf),
    (&["left", "of"], Kind::LeftOf),
    (&["to", "the", "right", "of"], Kind::RightOf),
    (&["on", "the", "right", "side", "of"], Kind::RightOf),
    (&["on", "the", "right", "of"], Kind::RightOf),
    (&["at", "the", "right", "of"], Kind::RightOf),
    (&["right", "of"], Kind::RightOf),
    (&["in", "the", "front", "of"], Kind::InFrontOf),
    (&["to", "the", "front", "of"], Kind::InFrontOf),
    (&["at", "the", "front", "of"], Kind::InFrontOf),
    (&["in", "front", "of"], Kind::InFrontOf),
    (&["to", "the", "back", "of"], Kind::Behind),
    (&["at", "the", "back", "of"], Kind::Behind),
    (&["in", "back", "of"], Kind::Behind),
    (&["behind"], Kind::Behind),
    (&["next", "to"], Kind::NextTo),
    (&["close", "to"], Kind::NextTo),
    (&["closest", "to"], Kind::NextTo),
    (&["nearest", "to"], Kind::NextTo),
    (&["adjacent", "to"], Kind::NextTo),
    (&["beside"], Kind::NextTo),
    (&["alongside"], Kind::NextTo),
    (&["near"], Kind::NextTo),
    (&["by"], Kind::NextTo),
    (&["farthest", "from"], Kind::FarthestFrom),
    (&["furthest", "from"], Kind::FarthestFrom),
    (&["far", "from"], Kind::FarthestFrom),
    (&["away", "from"], Kind::FarthestFrom),
    (&["on", "the", "top", "of"], Kind::On),
    (&["on", "top", "of"], Kind::On),
    (&["on"], Kind::On),
    (&["onto"], Kind::On),
    (&["atop"], Kind::On),
    (&["upon"], Kind::On),
    (&["under"], Kind::Under),
    (&["underneath"], Kind::Under),
    (&["below"], Kind::Under),
    (&["beneath"], Kind::Under),
    (&["in", "between"], Kind::Between),
    (&["between"], Kind::Between),
    (&["inside", "of"], Kind::In),
    (&["inside"], Kind::In),
    (&["within"], Kind::In),
    (&["into"], Kind::In),
    (&["in"], Kind::In),
    (&["from"], Kind::From),
];

impl Side {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "left" | "leftmost" => Self::Left,
            "right" | "rightmost" => Self::Right,
            "front" | "frontmost" => Self::Front,
            "back" | "rear" | "backmost" => Self::Back,
            "middle" | "center" | "centre" | "central" => Self::Middle,
            "top" | "upper" | "uppermost" | "topmost" => Self::Top,
            "bottom" | "lower" | "lowest" | "bottommost" => Self::Bottom,
            "largest" | "biggest" | "larger" | "bigger" => Self::Largest,
            "smallest" | "smaller" => Self::Smallest,
            _ => return None,
        })
    }

    /// In words.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
            Self::Front => "front",
            Self::Back => "back",
            Self::Middle => "middle",
            Self::Top => "top",
            Self::Bottom => "bottom",
            Self::Largest => "largest",
            Self::Smallest => "smallest",
        }
    }
}

/// One thing with all that is said about it.
fn thing(words: &[&str], depth: usize) -> Query {
    // "The inside of the microwave" is a thing.
    let articles = words.len() - without_determiners(words).len();
    let first = articles + usize::from(words.get(articles) == Some(&"inside"));
    let cut = (first..words.len()).find(|&at| clause(&words[at..]).is_some());
    let cut = cut.unwrap_or(words.len());
    let mut query = noun_phrase(&words[..cut]);
    let mut rest = &words[cut..];
    while let Some(clause) = clause(rest) {
        rest = &rest[clause.length..];
        match clause.means {
            Means::Side(side) => query.side = query.side.or(Some(side)),
            Means::Relation(kind) if depth < MAX_DEPTH => {
                add_relation(&mut query, kind, clause.negated, rest, depth);
                break;
            }
            Means::Relation(_) => break,
        }
    }
    query
}

/// A relation's objects are the rest of the phrase.
fn add_relation(query: &mut Query, kind: Kind, negated: bool, rest: &[&str], depth: usize) {
    if is_center(rest) {
        query.relations.push(Relation { kind: Kind::Center, negated, of: Vec::new() });
        return;
    }
    let of = match kind {
        Kind::Between => match pair(rest) {
            Some((first, second)) => vec![thing(first, depth + 1), thing(second, depth + 1)],
            None => vec![plain(without_determiners(rest), true)],
        },
        _ => vec![whole(thing(rest, depth + 1))],
    };
    if of.iter().any(|of| of.noun.is_empty()) {
        return;
    }
    // "On the table next to the plate" says the second only.
    if kind == Kind::On
        && let [ground] = &of[..]
        && GROUND.contains(&ground.noun.as_str())
    {
        query.relations.extend(ground.relations.clone());
        query.side = query.side.or(ground.side);
        return;
    }
    query.relations.push(Relation { kind, negated, of });
}

/// "the table center", "the middle of the table".
fn is_center(words: &[&str]) -> bool {
    let words: Vec<&str> =
        words.iter().copied().filter(|word| !DETERMINERS.contains(word)).collect();
    let is_middle = |word: &str| Side::of(word) == Some(Side::Middle);
    match words[..] {
        [middle] => is_middle(middle),
        [ground, middle] => GROUND.contains(&ground) && is_middle(middle),
        [middle, "of", ground] => GROUND.contains(&ground) && is_middle(middle),
        _ => false,
    }
}

/// "A and B"; an "and the" comes before the "and" of "yellow and white mug".
fn pair<'a, 'w>(words: &'a [&'w str]) -> Option<(&'a [&'w str], &'a [&'w str])> {
    let ands = || (0..words.len()).filter(|&at| words[at] == "and");
    let with_article =
        ands().find(|&at| words.get(at + 1).is_some_and(|next| DETERMINERS.contains(next)));
    let at = with_article.or_else(|| ands().next_back())?;
    Some((&words[..at], &words[at + 1..]))
}

struct Clause {
    /// Words it takes, fillers and "not" included.
    length: usize,
    negated: bool,
    means: Means,
}

enum Means {
    Side(Side),
    Relation(Kind),
}

/// What a phrase goes on with, if that is no more of its noun.
fn clause(words: &[&str]) -> Option<Clause> {
    let mut at = words.iter().take_while(|word| FILLERS.contains(word)).count();
    let negated = words.get(at) == Some(&"not");
    at += usize::from(negated);
    let rest = &words[at..];
    if let Some((side, length)) = side_at_end(rest) {
        return Some(Clause { length: at + length, negated, means: Means::Side(side) });
    }
    let (marker, kind) = MARKERS.iter().find(|(marker, _)| rest.starts_with(marker))?;
    Some(Clause { length: at + marker.len(), negated, means: Means::Relation(*kind) })
}

/// "on the left", "at the back side", when nothing follows that it could be of.
fn side_at_end(words: &[&str]) -> Option<(Side, usize)> {
    let mut at = match words {
        ["on" | "at" | "in" | "to" | "from", "the", ..] => 2,
        ["on" | "at" | "in" | "to", ..] => 1,
        _ => return None,
    };
    let side = Side::of(words.get(at)?)?;
    at += 1;
    at += usize::from(matches!(words.get(at), Some(&("side" | "one" | "position"))));
    let ends = at == words.len() || words.get(at) != Some(&"of") && clause(&words[at..]).is_some();
    ends.then_some((side, at))
}

/// A noun with what stands before it, and the part of it that is meant.
fn noun_phrase(words: &[&str]) -> Query {
    let plural = words.first().is_some_and(|word| PLURAL.contains(word));
    let mut words = without_determiners(words);
    if let Some(at) = words.iter().position(|word| *word == "'s") {
        return part_of(&words[at + 1..], &words[..at]).unwrap_or_else(|| plain(words, plural));
    }
    if let Some(at) = words.iter().position(|word| *word == "of")
        && let Some(query) = part_of(&words[..at], &words[at + 1..])
    {
        return query;
    }
    if let Some(query) = part_of(words, &[]) {
        return query;
    }
    let mut side = None;
    if let [first, rest @ ..] = words
        && !rest.is_empty()
        && let Some(found) = Side::of(first)
    {
        side = Some(found);
        words = rest;
    }
    Query { side, ..plain(without_determiners(words), plural) }
}

fn plain(words: &[&str], plural: bool) -> Query {
    let kept = words.iter().filter(|word| !["'s", "the", "a", "an"].contains(*word));
    let mut noun = kept.copied().collect::<Vec<_>>().join(" ");
    if plural && noun.ends_with('s') && !noun.ends_with("ss") {
        noun.pop();
    }
    Query { noun, ..Query::default() }
}

/// "top drawer" of "the cabinet"; what a drawer or compartment is of goes without saying.
fn part_of(part: &[&str], whole_words: &[&str]) -> Option<Query> {
    let part = without_determiners(part);
    let (part, of) = match *part {
        [side, "drawer" | "drawers" | "layer"] => (Part::Drawer(Side::of(side)?), "cabinet"),
        [side, "compartment" | "section"] => (Part::Compartment(Side::of(side)?), "caddy"),
        [side] | [side, "side" | "part" | "half" | "surface"] if !whole_words.is_empty() => {
            (Part::Place(Side::of(side)?), "")
        }
        _ => return None,
    };
    let of = match whole_words {
        [] => plain(&[of], false),
        words => whole(noun_phrase(words)),
    };
    Some(Query { part: Some(part), ..of })
}

/// The benchmark calls a cabinet of drawers "the drawer".
fn whole(mut query: Query) -> Query {
    if ["drawer", "drawers"].contains(&query.noun.as_str()) {
        "cabinet".clone_into(&mut query.noun);
    }
    query
}

fn without_determiners<'a, 'w>(words: &'a [&'w str]) -> &'a [&'w str] {
    let first = words.iter().take_while(|word| DETERMINERS.contains(word)).count();
    &words[first..]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parse(phrase: &str) -> Query {
        Query::parse(phrase).unwrap()
    }

    fn noun(noun: &str) -> Query {
        Query { noun: noun.to_owned(), ..Query::default() }
    }

    fn related(phrase: &str) -> (String, Kind, Vec<String>) {
        let query = parse(phrase);
        let [relation] = &query.relations[..] else { panic!("{phrase:?}: {query:?}") };
        assert!(!relation.negated && query.side.is_none() && query.part.is_none(), "{query:?}");
        let of = relation.of.iter().map(|of| of.noun.clone()).collect();
        (query.noun, relation.kind, of)
    }

    #[test]
    fn a_noun_stays_as_it_is() {
        for (phrase, expected) in [
            ("the akita black bowl", "akita black bowl"),
            ("Yellow and White Mug!", "yellow and white mug"),
            ("both moka pots", "moka pot"),
            ("alphabet soup", "alphabet soup"),
            ("a box of cookies", "box of cookies"),
            ("la taza roja", "la taza roja"),
            ("赤いカップ", "赤いカップ"),
            ("left", "left"),
            ("the handle of the top drawer", "handle of top drawer"),
            ("the inside of the microwave", "inside of microwave"),
        ] {
            assert_eq!(parse(phrase), noun(expected), "{phrase}");
        }
    }

    #[test]
    fn words_that_relate_come_off() {
        let bowl = "akita black bowl";
        for (phrase, kind, of) in [
            ("the akita black bowl next to the ramekin", Kind::NextTo, "ramekin"),
            ("the akita black bowl on the cookies box", Kind::On, "cookies box"),
            ("the akita black bowl on the top of the wooden cabinet", Kind::On, "wooden cabinet"),
            ("akita black bowl that is inside the basket", Kind::In, "basket"),
            ("akita black bowl from stove", Kind::From, "stove"),
            ("akita black bowl to the left of the plate", Kind::LeftOf, "plate"),
            ("akita black bowl in front of the plate", Kind::InFrontOf, "plate"),
            (
                "akita black bowl behind the yellow and white mug",
                Kind::Behind,
                "yellow and white mug",
            ),
            ("akita black bowl under the shelf", Kind::Under, "shelf"),
            ("akita black bowl closest to the plate", Kind::NextTo, "plate"),
            ("akita black bowl farthest from the plate", Kind::FarthestFrom, "plate"),
            ("akita black bowl on the top of the drawer", Kind::On, "cabinet"),
            ("akita black bowl between the plates", Kind::Between, "plate"),
            ("akita black bowl on the table next to the plate", Kind::NextTo, "plate"),
        ] {
            assert_eq!(related(phrase), (bowl.to_owned(), kind, vec![of.to_owned()]), "{phrase}");
        }
        for (phrase, of) in [
            ("bowl between the plate and the ramekin", ["plate", "ramekin"]),
            ("bowl between the plate and ramekin", ["plate", "ramekin"]),
            (
                "bowl between the yellow and white mug and the plate",
                ["yellow and white mug", "plate"],
            ),
        ] {
            let of = of.map(str::to_owned).to_vec();
            assert_eq!(related(phrase), ("bowl".to_owned(), Kind::Between, of), "{phrase}");
        }
        let query = parse("the black bowl not between the plate and the ramekin");
        assert!(query.relations[0].negated && query.relations[0].kind == Kind::Between);
        for phrase in ["bowl from table center", "the bowl in the middle of the table"] {
            assert_eq!(parse(phrase).relations[0].kind, Kind::Center, "{phrase}");
        }
    }

    #[test]
    fn a_side_tells_several_apart() {
        for (phrase, of, side) in [
            ("the left plate", "plate", Side::Left),
            ("the right moka pot", "moka pot", Side::Right),
            ("the middle black bowl", "black bowl", Side::Middle),
            ("the black bowl at the back", "black bowl", Side::Back),
            ("black bowl in the middle", "black bowl", Side::Middle),
            ("the book on the right side", "book", Side::Right),
            ("butter at the front", "butter", Side::Front),
            ("the biggest bowl", "bowl", Side::Largest),
        ] {
            assert_eq!(parse(phrase), Query { side: Some(side), ..noun(of) }, "{phrase}");
        }
        let query = parse("bowl on the left plate");
        assert_eq!(query.relations[0].of[0], Query { side: Some(Side::Left), ..noun("plate") });
        let query = parse("the bowl on the left next to the stove");
        assert_eq!((query.side, query.relations.len()), (Some(Side::Left), 1));
    }

    #[test]
    fn a_part_is_of_a_whole() {
        for (phrase, of, part) in [
            ("the top drawer of the cabinet", "cabinet", Part::Drawer(Side::Top)),
            ("the middle layer of the drawer", "cabinet", Part::Drawer(Side::Middle)),
            ("the cabinet\u{2019}s middle drawer", "cabinet", Part::Drawer(Side::Middle)),
            ("bottom drawer", "cabinet", Part::Drawer(Side::Bottom)),
            ("the back compartment of the caddy", "caddy", Part::Compartment(Side::Back)),
            ("back compartment", "caddy", Part::Compartment(Side::Back)),
            ("the top of the white cabinet", "white cabinet", Part::Place(Side::Top)),
            ("the stove's front", "stove", Part::Place(Side::Front)),
        ] {
            assert_eq!(parse(phrase), Query { part: Some(part), ..noun(of) }, "{phrase}");
        }
        assert_eq!(parse("top drawer").part_phrase().unwrap(), "top drawer of cabinet");
        let query = parse("the akita black bowl in the top layer of the wooden cabinet");
        let drawer = Query { part: Some(Part::Drawer(Side::Top)), ..noun("wooden cabinet") };
        assert_eq!((query.relations[0].kind, &query.relations[0].of[0]), (Kind::In, &drawer));
    }

    #[test]
    fn what_names_nothing_is_refused() {
        assert_eq!(Query::parse("  ?! "), Err(PhraseError::Empty));
        assert_eq!(Query::parse("the"), Err(PhraseError::NoNoun("the".to_owned())));
        assert_eq!(
            Query::parse("next to the plate"),
            Err(PhraseError::NoNoun("next to the plate".to_owned()))
        );
        let long = "bowl ".repeat(1000);
        assert_eq!(Query::parse(&long), Err(PhraseError::Long { found: 5000 }));
    }

    #[test]
    fn nothing_that_is_written_breaks_it() {
        let words = [
            "the", "bowl", "on", "next", "to", "of", "left", "and", "between", "not", "'s", "in",
            "top", "drawer", "middle",
        ];
        let mut state = 1_u64;
        for _ in 0..20_000 {
            let mut phrase = Vec::new();
            for _ in 0..state % 12 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                phrase.push(words[(state >> 33) as usize % words.len()]);
            }
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let _ = Query::parse(&phrase.join(" "));
        }
    }
}
