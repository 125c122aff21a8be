//! The settings that say how an agent acts and what it may use up.

use std::str::FromStr;
use std::time::Duration;

use ruaflow_kit::{SettingError, Settings};
use ruaflow_prompt::{Arm, Budgets, Rules};
use ruaflow_robots::{Feedback, Images, Primitives};
use serde_json::{Value, json};

use super::Seconds;

/// Wall-clock time of an episode when nobody says otherwise, seconds.
const BUDGET_S: f64 = 1200.0;

pub(super) fn read(settings: &Settings, cell_timeout: Duration) -> Result<Rules, SettingError> {
    let time: Seconds = settings.parse("BUDGET_S", Seconds(BUDGET_S), "a number of seconds")?;
    let some = |seconds: f64| (seconds > 0.0).then(|| Duration::from_secs_f64(seconds));
    Ok(Rules {
        arm: settings.parse("ARM", Arm::Cells, "cells, program, single-shot or tools")?,
        primitives: settings.parse("PRIMITIVES", Primitives::Full, "full or no-vla")?,
        feedback: settings.parse("FEEDBACK", Feedback::default(), "pure or rich")?,
        images: settings.parse("IMAGES", Images::default(), "on-demand, on-motion or none")?,
        max_programs: number(settings, "MAX_PROGRAMS")?,
        cell_timeout: Some(cell_timeout),
        budgets: Budgets {
            time: some(time.0),
            // The robot's card says it.
            steps: None,
            turns: number(settings, "MAX_TURNS")?,
            calls: number(settings, "BUDGET_CALLS")?,
            tokens: number(settings, "BUDGET_TOKENS")?,
            dollars: dollars(settings)?,
        },
        show_budgets: switch(settings, "SHOW_BUDGETS", true)?,
        transfer: switch(settings, "TRANSFER", false)?,
        guides: switch(settings, "GUIDES", false)?,
        perception: there(settings, "PERCEPTION"),
        vla: there(settings, "VLA"),
    })
}

/// Whether a node is set to do something.
fn there(settings: &Settings, name: &str) -> bool {
    settings.text(name).is_some_and(|word| word != "none")
}

pub(super) fn to_json(rules: &Rules) -> Value {
    let budgets = &rules.budgets;
    let switch = |on: bool| if on { "on" } else { "off" };
    json!({
        "ARM": rules.arm.word(),
        "PRIMITIVES": rules.primitives.word(),
        "FEEDBACK": rules.feedback.word(),
        "IMAGES": rules.images.word(),
        "MAX_PROGRAMS": rules.max_programs,
        "BUDGET_S": budgets.time.map_or(0.0, |time| time.as_secs_f64()),
        "MAX_TURNS": budgets.turns,
        "BUDGET_CALLS": budgets.calls,
        "BUDGET_TOKENS": budgets.tokens,
        "BUDGET_DOLLARS": budgets.dollars,
        "SHOW_BUDGETS": switch(rules.show_budgets),
        "TRANSFER": switch(rules.transfer),
        "GUIDES": switch(rules.guides),
    })
}

/// A limit; none when it is not set.
fn number<T: FromStr>(settings: &Settings, name: &str) -> Result<Option<T>, SettingError> {
    settings.parse(name, Maybe(None), "a whole number from 1").map(|number| number.0)
}

fn dollars(settings: &Settings) -> Result<Option<f64>, SettingError> {
    let given: Maybe<Dollars> =
        settings.parse("BUDGET_DOLLARS", Maybe(None), "a number of dollars above 0")?;
    Ok(given.0.map(|dollars| dollars.0))
}

fn switch(settings: &Settings, name: &str, default: bool) -> Result<bool, SettingError> {
    settings.parse(name, Switch(default), "on or off").map(|switch| switch.0)
}

/// A value that is only there when it was given.
struct Maybe<T>(Option<T>);

impl<T: FromStr> FromStr for Maybe<T> {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        // A limit of nothing would end an episode before it begins.
        match text.parse() {
            Ok(value) if text != "0" => Ok(Maybe(Some(value))),
            _ => Err(()),
        }
    }
}

struct Dollars(f64);

impl FromStr for Dollars {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let amount = text.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount > 0.0);
        amount.map(Dollars).ok_or(())
    }
}

struct Switch(bool);

impl FromStr for Switch {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "on" => Ok(Switch(true)),
            "off" => Ok(Switch(false)),
            _ => Err(()),
        }
    }
}
