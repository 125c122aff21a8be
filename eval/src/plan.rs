//! `PLAN.yml`: which scenes are played, by whom and how often.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use ruaflow_kit::nearest;
use serde::{Deserialize, Serialize};
use serde_yaml::Value;

const FIELDS: [&str; 9] =
    ["robot", "suites", "tasks", "seeds", "repeats", "players", "settings", "workers", "retries"];

/// A campaign: every player plays every scene `repeats` times.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub robot: String,
    pub scenes: Vec<Scene>,
    pub repeats: u32,
    pub players: Vec<Player>,
    /// Episodes at once; none leaves it to the machine.
    pub workers: Option<usize>,
    /// How often an episode is tried again whose infrastructure failed.
    pub retries: u32,
}

/// What an episode is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Scene {
    pub suite: String,
    pub task: u32,
    pub seed: u64,
}

/// Who plays: a name for tables, and flags of `rua play` with their values.
#[derive(Clone, Debug, PartialEq)]
pub struct Player {
    pub name: String,
    pub flags: BTreeMap<String, String>,
}

/// What a robot has to offer.
pub trait Catalog {
    /// Names of all suites.
    fn suites(&self) -> Vec<String>;
    /// Number of tasks of a suite, or why it can't be played.
    ///
    /// # Errors
    /// The text is for the author of the plan.
    fn tasks(&self, suite: &str) -> Result<u32, String>;
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PlanError {
    #[error("the plan is no YAML: {0}")]
    Syntax(String),

    #[error("{place} has no field {name:?}{}; it has {known}", did_you_mean(name, known))]
    Unknown { place: &'static str, name: String, known: String },

    #[error("there is no suite {name:?}{}; `rua suites` lists them", did_you_mean(name, known))]
    Suite { name: String, known: String },

    #[error("suite {suite:?} can't be played: {reason}")]
    Unplayable { suite: String, reason: String },

    #[error("suite {suite:?} has tasks 0 to {last}, not {task}")]
    Task { suite: String, task: u64, last: u32 },

    #[error("{field}: {reason}")]
    Value { field: String, reason: String },
}

fn did_you_mean(name: &str, known: &str) -> String {
    nearest(name, known.split(", "))
        .map_or_else(String::new, |near| format!(" (did you mean {near:?}?)"))
}

impl Plan {
    /// Reads a plan and checks every name in it.
    ///
    /// # Errors
    /// The first thing that is wrong, with the nearest name there is.
    pub fn parse(
        text: &str,
        catalog: impl Fn(&str) -> Result<Box<dyn Catalog>, String>,
    ) -> Result<Self, PlanError> {
        let plan: Value =
            serde_yaml::from_str(text).map_err(|error| PlanError::Syntax(error.to_string()))?;
        let plan = fields(&plan, "the plan", &FIELDS)?;
        let robot = match plan.get("robot") {
            Some(robot) => text_of(robot, "robot")?,
            None => "libero".to_owned(),
        };
        let catalog = catalog(&robot).map_err(|reason| value("robot", reason))?;
        let common = flags(plan.get("settings").copied(), "settings")?;
        Ok(Plan {
            scenes: scenes(&plan, catalog.as_ref())?,
            robot,
            repeats: one_of(&plan, "repeats", 1, 1..=10_000)?,
            players: players(plan.get("players").copied(), &common)?,
            workers: match plan.get("workers") {
                None => None,
                Some(_) => Some(one_of(&plan, "workers", 1, 1..=1024)? as usize),
            },
            retries: one_of(&plan, "retries", 2, 0..=100)?,
        })
    }

    /// Episodes in all.
    pub fn episodes(&self) -> usize {
        self.scenes.len() * self.repeats as usize * self.players.len()
    }
}

fn value(field: &str, reason: impl ToString) -> PlanError {
    PlanError::Value { field: field.to_owned(), reason: reason.to_string() }
}

/// A mapping whose keys are all known.
fn fields<'a>(
    value: &'a Value,
    place: &'static str,
    known: &[&str],
) -> Result<BTreeMap<&'a str, &'a Value>, PlanError> {
    let Value::Mapping(mapping) = value else {
        return Err(PlanError::Value {
            field: place.to_owned(),
            reason: format!("expected fields such as `{}:`", known[0]),
        });
    };
    let mut fields = BTreeMap::new();
    for (key, value) in mapping {
        let key = key.as_str().unwrap_or_default();
        if !known.is_empty() && !known.contains(&key) {
            let known = known.join(", ");
            return Err(PlanError::Unknown { place, name: key.to_owned(), known });
        }
        fields.insert(key, value);
    }
    Ok(fields)
}

fn scenes(plan: &BTreeMap<&str, &Value>, catalog: &dyn Catalog) -> Result<Vec<Scene>, PlanError> {
    let suites = match plan.get("suites") {
        Some(Value::Sequence(names)) => {
            names.iter().map(|name| text_of(name, "suites")).collect::<Result<Vec<_>, _>>()?
        }
        Some(name) => vec![text_of(name, "suites")?],
        None => return Err(value("suites", "the plan names none")),
    };
    let seeds = numbers(plan.get("seeds").copied(), "seeds")?.unwrap_or_else(|| vec![0]);
    let tasks = match plan.get("tasks") {
        Some(Value::String(all)) if all == "all" => None,
        tasks => numbers(tasks.copied(), "tasks")?,
    };
    let known = catalog.suites();
    let mut scenes = BTreeSet::new();
    for suite in suites {
        if !known.contains(&suite) {
            return Err(PlanError::Suite { name: suite, known: known.join(", ") });
        }
        let count = catalog
            .tasks(&suite)
            .map_err(|reason| PlanError::Unplayable { suite: suite.clone(), reason })?;
        for task in tasks.clone().unwrap_or_else(|| (0..u64::from(count)).collect()) {
            let Some(task) = u32::try_from(task).ok().filter(|task| *task < count) else {
                return Err(PlanError::Task { suite, task, last: count.saturating_sub(1) });
            };
            let scene = |seed: &u64| Scene { suite: suite.clone(), task, seed: *seed };
            scenes.extend(seeds.iter().map(scene));
        }
    }
    Ok(scenes.into_iter().collect())
}

fn players(
    players: Option<&Value>,
    common: &BTreeMap<String, String>,
) -> Result<Vec<Player>, PlanError> {
    let Some(players) = players else {
        return Ok(vec![Player { name: "default".to_owned(), flags: common.clone() }]);
    };
    let Value::Mapping(players) = players else {
        return Err(value("players", "expected a name and its settings a line"));
    };
    let mut all = Vec::new();
    for (name, own) in players {
        let name = text_of(name, "players")?;
        // It names a folder.
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
            let reason = format!("{name:?} may hold letters, digits, '-', '_' and '.' alone");
            return Err(value("players", reason));
        }
        let mut flags_of_both = common.clone();
        flags_of_both.extend(flags(Some(own), &format!("players.{name}"))?);
        all.push(Player { name, flags: flags_of_both });
    }
    if all.is_empty() { Err(value("players", "the plan names none")) } else { Ok(all) }
}

/// Names of flags have dashes; a plan may write them with underscores.
fn flags(settings: Option<&Value>, field: &str) -> Result<BTreeMap<String, String>, PlanError> {
    match settings {
        None | Some(Value::Null) => Ok(BTreeMap::new()),
        Some(settings @ Value::Mapping(_)) => fields(settings, "settings", &[])?
            .into_iter()
            .map(|(name, set)| {
                Ok((name.replace('_', "-"), text_of(set, &format!("{field}.{name}"))?))
            })
            .collect(),
        Some(_) => Err(value(field, "expected flags of `rua play` and their values")),
    }
}

fn text_of(found: &Value, field: &str) -> Result<String, PlanError> {
    match found {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(yes) => Ok(yes.to_string()),
        _ => Err(value(field, "expected one word or number")),
    }
}

fn one_of(
    plan: &BTreeMap<&str, &Value>,
    field: &str,
    default: u32,
    range: RangeInclusive<u32>,
) -> Result<u32, PlanError> {
    let Some(found) = plan.get(field) else { return Ok(default) };
    let number = found.as_u64().and_then(|number| u32::try_from(number).ok());
    number.filter(|number| range.contains(number)).ok_or_else(|| {
        value(field, format!("expected a number from {} to {}", range.start(), range.end()))
    })
}

/// `3`, `0-4` or a list of both; each number once, in order.
fn numbers(found: Option<&Value>, field: &str) -> Result<Option<Vec<u64>>, PlanError> {
    let Some(found) = found else { return Ok(None) };
    let mut all = BTreeSet::new();
    match found {
        Value::Sequence(parts) => {
            for part in parts {
                all.extend(range(part, field)?);
            }
        }
        part => all.extend(range(part, field)?),
    }
    if all.is_empty() {
        Err(value(field, "the list is empty"))
    } else {
        Ok(Some(all.into_iter().collect()))
    }
}

fn range(part: &Value, field: &str) -> Result<RangeInclusive<u64>, PlanError> {
    let wrong = || value(field, "expected numbers such as 3, 0-4 or [0, 2, 5-7]");
    if let Some(number) = part.as_u64() {
        return Ok(number..=number);
    }
    let (first, last) = part.as_str().and_then(|text| text.split_once('-')).ok_or_else(wrong)?;
    let bound = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
    let (first, last) = (bound(first)?, bound(last)?);
    // A typo must not fill the memory.
    if first > last || last - first > 1_000_000 { Err(wrong()) } else { Ok(first..=last) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Two;

    impl Catalog for Two {
        fn suites(&self) -> Vec<String> {
            vec!["libero_goal".to_owned(), "libero_10".to_owned(), "half".to_owned()]
        }

        fn tasks(&self, suite: &str) -> Result<u32, String> {
            if suite == "half" { Err("a mesh is missing".to_owned()) } else { Ok(10) }
        }
    }

    fn parse(text: &str) -> Result<Plan, PlanError> {
        Plan::parse(text, |robot| match robot {
            "libero" => Ok(Box::new(Two) as Box<dyn Catalog>),
            other => Err(format!("no robot {other:?}")),
        })
    }

    #[test]
    fn a_plan_is_the_product_of_its_lists() {
        let plan = parse(
            "suites: [libero_goal, libero_10]\ntasks: [0, 3-4]\nseeds: 0-4\nrepeats: 2\n\
             settings: {max_steps: 300}\nplayers:\n  a: {planner: builtin}\n  b: {planner: openai, max_steps: 5}\n",
        )
        .unwrap();
        assert_eq!(plan.scenes.len(), 2 * 3 * 5);
        assert_eq!(plan.episodes(), 2 * 3 * 5 * 2 * 2);
        assert_eq!(plan.players[0].flags["max-steps"], "300");
        assert_eq!(plan.players[1].flags["max-steps"], "5");
        assert_eq!(plan.scenes[0], Scene { suite: "libero_10".to_owned(), task: 0, seed: 0 });
        assert_eq!(parse("suites: libero_goal").unwrap().scenes.len(), 10);
    }

    #[test]
    fn what_is_wrong_is_named_with_the_nearest_there_is() {
        for (text, want) in [
            ("suits: [libero_goal]", "did you mean \"suites\"?"),
            ("suites: [libero_gaol]", "did you mean \"libero_goal\"?"),
            ("suites: [half]", "a mesh is missing"),
            ("suites: libero_goal\ntasks: [12]", "tasks 0 to 9, not 12"),
            ("suites: libero_goal\nseeds: 5-1", "seeds: expected numbers"),
            ("suites: libero_goal\nseeds: 0-99999999999", "seeds: expected numbers"),
            ("suites: libero_goal\nrepeats: 0", "repeats: expected a number from 1"),
            ("suites: libero_goal\nplayers: {../x: {}}", "players: \"../x\" may hold"),
            ("robot: franky\nsuites: a", "no robot \"franky\""),
            ("suites: [libero_goal", "the plan is no YAML"),
            ("- 1", "the plan: expected fields"),
            ("tasks: all", "suites: the plan names none"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(want), "{text:?}: {error}");
        }
    }
}
