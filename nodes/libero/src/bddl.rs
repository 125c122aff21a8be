//! LIBERO's task files: the dialect of BDDL that its problems are written in.
//!
//! A file is one parenthesised expression, read without case. It names the
//! kind of workspace, the fixtures and objects, regions on tables and
//! fixtures, what lies where at the start, and the goal as a conjunction.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::data::{self, DataError};

/// Why a task file could not be used.
#[derive(Debug, Error)]
pub enum BddlError {
    /// The file could not be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The text is not a LIBERO problem.
    #[error("{path:?}, line {line}: {message}: a broken download is mended by `./rua setup`")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line of the expression at fault, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
}

/// One task: workspace, things, start and goal.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Class of the workspace, in lower case (`libero_tabletop_manipulation`).
    pub class: String,
    /// The instruction, in lower case.
    pub language: String,
    /// What can't be moved, by category, in the file's order. The workspace's own table is one.
    pub fixtures: Vec<Group>,
    /// What can be moved, by category, in the file's order.
    pub objects: Vec<Group>,
    /// Regions on the workspace, and sites of fixtures and objects.
    pub regions: Vec<Region>,
    /// What holds at the start.
    pub init: Vec<Predicate>,
    /// What must hold at the end: all of them.
    pub goal: Vec<Predicate>,
    /// Names that the task is about.
    pub objects_of_interest: Vec<String>,
}

/// The instances of one category.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// For example `akita_black_bowl`.
    pub category: String,
    /// For example `akita_black_bowl_1`, `akita_black_bowl_2`.
    pub instances: Vec<String>,
}

/// A named place.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    /// `<target>_<name>`, as predicates and sites call it.
    pub name: String,
    /// The fixture, object or table it belongs to.
    pub target: String,
    /// Rectangles `[x min, y min, x max, y max]`, metres from the workspace's origin.
    pub ranges: Vec<[f64; 4]>,
    /// Range of the yaw of a fixture placed here, radians.
    pub yaw: Vec<f64>,
    /// Colour of the region's site.
    pub rgba: [f64; 4],
}

/// A statement about one or two things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Predicate {
    /// The first lies on the second (an object or a region).
    On(String, String),
    /// The first is inside the second (a region).
    In(String, String),
    /// An articulated thing or its region is open.
    Open(String),
    /// An articulated thing or its region is closed.
    Close(String),
    /// A stove is on.
    TurnOn(String),
    /// A stove is off.
    TurnOff(String),
}

impl Problem {
    /// Reads and parses a file.
    ///
    /// # Errors
    /// [`BddlError`] when it can't be read or is no LIBERO problem.
    pub fn read(path: &Path) -> Result<Self, BddlError> {
        Self::parse(&data::read_text("the task's BDDL file", path)?, path)
    }

    /// Parses the text of a file; `path` is for messages.
    ///
    /// # Errors
    /// [`BddlError::Syntax`] when it is no LIBERO problem.
    pub fn parse(text: &str, path: &Path) -> Result<Self, BddlError> {
        Self::parse_text(text).map_err(|(line, message)| BddlError::Syntax {
            path: path.to_owned(),
            line,
            message,
        })
    }

    /// The category of a fixture or object.
    pub fn category(&self, instance: &str) -> Option<&str> {
        let groups = self.objects.iter().chain(&self.fixtures);
        groups
            .filter(|group| group.instances.iter().any(|name| name == instance))
            .map(|group| group.category.as_str())
            .next()
    }

    /// The region of that full name.
    pub fn region(&self, name: &str) -> Option<&Region> {
        self.regions.iter().find(|region| region.name == name)
    }

    fn parse_text(text: &str) -> Result<Self, Fault> {
        let root = read_expression(text)?;
        let items = root.list()?;
        match items.first() {
            Some(Expression::Word(word, _)) if word == "define" => {}
            _ => return Err((root.line(), "expected (define (problem …) …)".to_owned())),
        }
        let mut problem = Self {
            class: String::new(),
            language: String::new(),
            fixtures: Vec::new(),
            objects: Vec::new(),
            regions: Vec::new(),
            init: Vec::new(),
            goal: Vec::new(),
            objects_of_interest: Vec::new(),
        };
        for section in &items[1..] {
            problem.read_section(section)?;
        }
        if problem.class.is_empty() {
            return Err((root.line(), "no (problem …) section".to_owned()));
        }
        if problem.goal.is_empty() {
            return Err((root.line(), "no (:goal …) section".to_owned()));
        }
        Ok(problem)
    }

    fn read_section(&mut self, section: &Expression) -> Result<(), Fault> {
        let items = section.list()?;
        let (head, rest) = match items.split_first() {
            Some((head, rest)) => (head.word()?, rest),
            None => return Err((section.line(), "an empty section".to_owned())),
        };
        match head {
            "problem" => self.class = words(rest)?.pop().unwrap_or_default(),
            ":domain" => match words(rest)?.last() {
                Some(domain) if domain == "robosuite" => {}
                other => {
                    let message = format!("expected (:domain robosuite), found {other:?}");
                    return Err((section.line(), message));
                }
            },
            ":language" => self.language = words(rest)?.join(" "),
            ":requirements" => {}
            ":fixtures" => self.fixtures = read_groups(rest, "fixture")?,
            ":objects" => self.objects = read_groups(rest, "object")?,
            ":obj_of_interest" => self.objects_of_interest = words(rest)?,
            ":regions" => {
                for region in rest {
                    let region = read_region(region)?;
                    insert(&mut self.regions, region, |old, new| old.name == new.name);
                }
            }
            ":init" => self.init = rest.iter().map(read_predicate).collect::<Result<_, _>>()?,
            ":goal" => self.goal = read_conjunction(section, rest)?,
            other => {
                let message = format!("section {other:?} is not known");
                return Err((section.line(), message));
            }
        }
        Ok(())
    }
}

/// The last line of a task file that says all of these names, else the first of them;
/// from 1. A region's full name begins with its target, which its definition leaves out.
pub(crate) fn line_naming(text: &str, names: &[&str]) -> usize {
    let text = text.to_lowercase();
    let says = |line: &str, name: &str| tokens(line).any(|token| token == name);
    let last = |names: &[&str]| {
        let lines: Vec<&str> = text.lines().collect();
        lines.iter().rposition(|line| names.iter().all(|name| says(line, name)))
    };
    let Some(first) = names.first() else { return 1 };
    let ends = first.match_indices('_').map(|(at, _)| &first[at + 1..]);
    let alone = || std::iter::once(*first).chain(ends).find_map(|name| last(&[name]));
    last(names).or_else(alone).map_or(1, |index| index + 1)
}

/// Deeper lists than this are no task; a deep one could not even be dropped.
const MAX_DEPTH: usize = 32;

/// Line and message.
type Fault = (usize, String);

enum Expression {
    Word(String, usize),
    List(Vec<Expression>, usize),
}

impl Expression {
    fn line(&self) -> usize {
        match self {
            Self::Word(_, line) | Self::List(_, line) => *line,
        }
    }

    fn word(&self) -> Result<&str, Fault> {
        match self {
            Self::Word(word, _) => Ok(word),
            Self::List(_, line) => Err((*line, "expected a word, found (…)".to_owned())),
        }
    }

    fn list(&self) -> Result<&[Expression], Fault> {
        match self {
            Self::List(items, _) => Ok(items),
            Self::Word(word, line) => Err((*line, format!("expected (…), found {word:?}"))),
        }
    }

    fn number(&self) -> Result<f64, Fault> {
        let word = self.word()?;
        let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| (self.line(), format!("expected a number, found {word:?}")))
    }
}

fn read_expression(text: &str) -> Result<Expression, Fault> {
    let text = text.to_lowercase();
    let mut open: Vec<(Vec<Expression>, usize)> = Vec::new();
    let mut done: Option<Expression> = None;
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        let code = line.split(';').next().unwrap_or_default();
        for token in tokens(code) {
            if done.is_some() {
                return Err((line_number, format!("{token:?} after the end of the problem")));
            }
            let finished = match token {
                "(" if open.len() == MAX_DEPTH => {
                    return Err((line_number, "lists within lists, too deep".to_owned()));
                }
                "(" => {
                    open.push((Vec::new(), line_number));
                    continue;
                }
                ")" => match open.pop() {
                    Some((items, line)) => Expression::List(items, line),
                    None => return Err((line_number, "a ) without its (".to_owned())),
                },
                word => Expression::Word(word.to_owned(), line_number),
            };
            match open.last_mut() {
                Some((items, _)) => items.push(finished),
                None => done = Some(finished),
            }
        }
    }
    match (open.pop(), done) {
        (Some((_, line)), _) => Err((line, "a ( without its )".to_owned())),
        (None, Some(done)) => Ok(done),
        (None, None) => Err((1, "the file is empty".to_owned())),
    }
}

/// Splits a line into parentheses and words.
fn tokens(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let end = match first {
            '(' | ')' => 1,
            _ => {
                rest.find(|c: char| c == '(' || c == ')' || c.is_whitespace()).unwrap_or(rest.len())
            }
        };
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}

fn words(items: &[Expression]) -> Result<Vec<String>, Fault> {
    items.iter().map(|item| item.word().map(str::to_owned)).collect()
}

/// `a b - kind  c - other`; a kind named twice keeps its place and its last list.
fn read_groups(items: &[Expression], default: &str) -> Result<Vec<Group>, Fault> {
    let mut groups = Vec::new();
    let mut instances = Vec::new();
    let mut items = items.iter();
    while let Some(item) = items.next() {
        let word = item.word()?;
        if word != "-" {
            instances.push(word.to_owned());
            continue;
        }
        let category = match items.next() {
            Some(category) => category.word()?.to_owned(),
            None => return Err((item.line(), "no category after -".to_owned())),
        };
        let group = Group { category, instances: std::mem::take(&mut instances) };
        insert(&mut groups, group, |old, new| old.category == new.category);
    }
    if !instances.is_empty() {
        groups.push(Group { category: default.to_owned(), instances });
    }
    Ok(groups)
}

fn read_region(region: &Expression) -> Result<Region, Fault> {
    let items = region.list()?;
    let (name, attributes) = match items.split_first() {
        Some((name, attributes)) => (name.word()?, attributes),
        None => return Err((region.line(), "a region without a name".to_owned())),
    };
    let mut target = None;
    let mut ranges = Vec::new();
    let mut yaw = vec![0.0, 0.0];
    let mut rgba = [0.0, 0.0, 1.0, 0.0];
    for attribute in attributes {
        let (key, value) = match attribute.list()? {
            [key, value] => (key.word()?, value),
            _ => return Err((attribute.line(), format!("region {name:?}: expected (:key value)"))),
        };
        match key {
            ":target" => target = Some(value.word()?),
            ":ranges" => {
                for range in value.list()? {
                    ranges.push(numbers::<4>(range)?);
                }
            }
            ":yaw_rotation" => {
                for range in value.list()? {
                    yaw = range.list()?.iter().map(Expression::number).collect::<Result<_, _>>()?;
                }
            }
            ":rgba" => rgba = numbers::<4>(value)?,
            other => {
                let message = format!("region {name:?}: attribute {other:?} is not known");
                return Err((attribute.line(), message));
            }
        }
    }
    match target {
        Some(target) => Ok(Region {
            name: format!("{target}_{name}"),
            target: target.to_owned(),
            ranges,
            yaw,
            rgba,
        }),
        None => Err((region.line(), format!("region {name:?} has no :target"))),
    }
}

fn numbers<const N: usize>(list: &Expression) -> Result<[f64; N], Fault> {
    let numbers: Vec<f64> =
        list.list()?.iter().map(Expression::number).collect::<Result<_, _>>()?;
    numbers.try_into().map_err(|numbers: Vec<f64>| {
        (list.line(), format!("expected {N} numbers, found {}", numbers.len()))
    })
}

fn read_predicate(expression: &Expression) -> Result<Predicate, Fault> {
    let parts = words(expression.list()?)?;
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    Ok(match parts[..] {
        ["on", a, b] => Predicate::On(a.to_owned(), b.to_owned()),
        ["in", a, b] => Predicate::In(a.to_owned(), b.to_owned()),
        ["open", a] => Predicate::Open(a.to_owned()),
        ["close", a] => Predicate::Close(a.to_owned()),
        ["turnon", a] => Predicate::TurnOn(a.to_owned()),
        ["turnoff", a] => Predicate::TurnOff(a.to_owned()),
        _ => {
            let message = format!(
                "({}) is none of (on a b), (in a b), (open a), (close a), (turnon a), (turnoff a)",
                parts.join(" ")
            );
            return Err((expression.line(), message));
        }
    })
}

fn read_conjunction(section: &Expression, rest: &[Expression]) -> Result<Vec<Predicate>, Fault> {
    let goal = match rest {
        [goal] => goal,
        _ => return Err((section.line(), "expected one expression in (:goal …)".to_owned())),
    };
    match goal.list()? {
        [Expression::Word(and, _), parts @ ..] if and == "and" => {
            parts.iter().map(read_predicate).collect()
        }
        _ => Ok(vec![read_predicate(goal)?]),
    }
}

fn insert<T>(items: &mut Vec<T>, new: T, same: impl Fn(&T, &T) -> bool) {
    match items.iter_mut().find(|old| same(old, &new)) {
        Some(old) => *old = new,
        None => items.push(new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "
(define (problem LIBERO_Tabletop_Manipulation) ; a comment (
  (:domain robosuite)
  (:language Put the Bowl down)
  (:regions
    (spot (:target main_table) (:ranges ((-0.1 0 0.1 1e-1) (1 2 3 4))) (:yaw_rotation ((0.5 1.5))))
    (top_region (:target cabinet_1)))
  (:fixtures main_table - table cabinet_1 - wooden_cabinet)
  (:objects bowl_1 bowl_2 - akita_black_bowl plate_1 - plate)
  (:obj_of_interest bowl_1)
  (:init (On bowl_1 main_table_spot) (Open cabinet_1_top_region))
  (:goal (And (On bowl_1 plate_1) (Close cabinet_1_top_region))))
";

    #[test]
    fn finds_the_line_that_says_a_name() {
        assert_eq!(line_naming(SMALL, &["bowl_1", "main_table_spot"]), 11);
        assert_eq!(line_naming(SMALL, &["cabinet_1", "nowhere"]), 8);
        assert_eq!(line_naming(SMALL, &["other_table_spot"]), 6);
        assert_eq!((line_naming(SMALL, &["nothing"]), line_naming(SMALL, &[])), (1, 1));
    }

    #[test]
    fn a_bottomless_file_is_refused() {
        for text in ["(".repeat(1 << 20), format!("(define {}", "(a ".repeat(100))] {
            let (line, message) = Problem::parse_text(&text).expect_err("too deep");
            assert_eq!((line, message.contains("too deep")), (1, true), "{message}");
        }
    }

    #[test]
    fn reads_a_problem() {
        let problem = Problem::parse_text(SMALL).expect("the small problem");
        assert_eq!(problem.class, "libero_tabletop_manipulation");
        assert_eq!(problem.language, "put the bowl down");
        assert_eq!(problem.objects[0].instances, ["bowl_1", "bowl_2"]);
        assert_eq!(problem.category("plate_1"), Some("plate"));
        assert_eq!(problem.category("cabinet_1"), Some("wooden_cabinet"));
        assert_eq!(problem.category("spoon_1"), None);
        let spot = problem.region("main_table_spot").expect("the region");
        assert_eq!(spot.ranges, [[-0.1, 0.0, 0.1, 0.1], [1.0, 2.0, 3.0, 4.0]]);
        assert_eq!(spot.yaw, [0.5, 1.5]);
        let top = problem.region("cabinet_1_top_region").expect("the region");
        assert_eq!((top.yaw.as_slice(), top.rgba), ([0.0, 0.0].as_slice(), [0.0, 0.0, 1.0, 0.0]));
        assert_eq!(problem.init.len(), 2);
        assert_eq!(
            problem.goal,
            [
                Predicate::On("bowl_1".to_owned(), "plate_1".to_owned()),
                Predicate::Close("cabinet_1_top_region".to_owned()),
            ]
        );
    }

    #[test]
    fn a_goal_without_and_is_one_predicate() {
        let text = SMALL
            .replace("(And (On bowl_1 plate_1) (Close cabinet_1_top_region))", "(turnon stove_1)");
        let problem = Problem::parse_text(&text).expect("the small problem");
        assert_eq!(problem.goal, [Predicate::TurnOn("stove_1".to_owned())]);
    }

    #[test]
    fn faults_name_their_line() {
        let cases = [
            (
                SMALL.replace("(On bowl_1 main_table_spot)", "(above bowl_1 plate_1)"),
                11,
                "none of (on a b)",
            ),
            (SMALL.replace("(-0.1 0 0.1 1e-1)", "(-0.1 0 0.1)"), 6, "expected 4 numbers, found 3"),
            (SMALL.replace("1e-1", "inf"), 6, "expected a number, found \"inf\""),
            (SMALL.replace("(:target main_table)", ""), 6, "has no :target"),
            (SMALL.replace("robosuite", "blocks"), 3, "expected (:domain robosuite)"),
            (SMALL.replace("- plate)", "-)"), 9, "no category after -"),
            (format!("{SMALL})"), 13, "after the end"),
            (SMALL.trim_end().trim_end_matches(')').to_owned(), 12, "without its )"),
            (String::new(), 1, "empty"),
        ];
        for (text, line, message) in cases {
            let (found_line, found) = Problem::parse_text(&text).expect_err(message);
            assert!(found.contains(message), "{found:?} should contain {message:?}");
            assert_eq!(found_line, line, "{found}");
        }
    }
}
