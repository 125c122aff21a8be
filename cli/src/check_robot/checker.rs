//! The order of the checks: a run of a few episodes, from `run` to `shutdown`.

use std::path::Path;
use std::time::Duration;

use eyre::{Context as _, ContextCompat as _, Result};
use ruaflow_kit::Settings;
use ruaflow_schemas::{Card, Event, Observation, Reset, event};
use serde_json::{Value, json};

use super::bench::{Answer, Bench, PATIENCE, SOON, Seen};
use super::motion::{Motion, minus, norm};
use super::report::{Found, Report};
use super::{REPORT, ROBOT_NODE, card, pictures, refusals};

/// Few steps, so that the truncated episode is short.
const FEW_STEPS: u32 = 3;
/// Steps compared between two episodes of one seed.
const SAME_STEPS: usize = 5;
/// What an arm may move after an emergency stop: it may have to brake.
const BRAKING: f64 = 0.01;
/// Control steps that are asked for after an emergency stop.
const AFTER_STOP: usize = 10;
const SHUTDOWN_WAIT: Duration = Duration::from_secs(5);

/// The node that stands for all others.
pub fn run() -> Result<()> {
    let settings = Settings::load()?;
    let path = settings.text(REPORT).wrap_err("no report was asked for")?;
    let mut report =
        Report::open(Path::new(&path)).wrap_err_with(|| format!("can't write {path:?}"))?;
    let mut bench = Bench::open()?;
    let dir = Path::new(&path).parent().map(|dir| dir.display().to_string()).unwrap_or_default();

    let ready = bench.begin_run(&dir)?;
    let answered = if ready {
        Ok(String::new())
    } else {
        Err(format!("no answer within {} s", PATIENCE.as_secs()))
    };
    if report.found("it answers `run` with `ready`", answered)? {
        let reset = Reset {
            suite: settings.text("SUITE").unwrap_or_default(),
            task: settings.parse("TASK", 0, "a number")?,
            seed: settings.parse("SEED", 0, "a number")?,
            settle: settings.parse("SETTLE", 0, "a number")?,
            ..Reset::default()
        };
        episodes(&mut bench, &mut report, &reset)?;
        end_of_run(&mut bench, &mut report)?;
    }
    Ok(())
}

fn episodes(bench: &mut Bench, report: &mut Report, reset: &Reset) -> Result<()> {
    let found = refusals::before_reset(bench)?;
    report.found("an action before the first reset is refused", found)?;

    let Some(card) = first_episode(bench, report, reset)? else { return Ok(()) };
    let found = end_of_episode(bench)?;
    report.found("it answers `ended` with `flushed` once all its rows are sent", found)?;

    same_seed(bench, report, reset, &card)?;
    truncation(bench, report, reset)?;
    bad_reset(bench, report, reset, &card)?;
    emergency_stop(bench, report, reset)?;

    let malformed = match bench.malformed.first() {
        None => Ok(String::new()),
        Some(first) => Err(first.clone()),
    };
    report.found("every frame has its topic's schema", malformed)?;
    Ok(())
}

/// Returns the card when there is one to go on with.
fn first_episode(bench: &mut Bench, report: &mut Report, reset: &Reset) -> Result<Option<Card>> {
    let reset = Reset { id: bench.new_id(), ..reset.clone() };
    let card = bench.begin_episode(&reset)?;
    let no_card = || format!("no card with the reset's id within {} s", PATIENCE.as_secs());
    let found = card.as_ref().ok_or_else(no_card).and_then(|card| {
        let note = card::check(card)?;
        card::repeats(card, &reset).map(|()| note)
    });
    let good = report.found("it answers `reset` with a card", found)?;
    let Some(card) = card.filter(|_| good) else { return Ok(None) };

    let again = match bench.reset(&reset)? {
        None => Err("the second time it was not answered".to_owned()),
        Some(again) if again == card => Ok(String::new()),
        Some(_) => Err("the second card is another one".to_owned()),
    };
    report.found("the same reset again gives the same card", again)?;
    if card.arms.is_empty() {
        report.not_made("actions", "the robot has no arm")?;
    } else {
        let mut motion = Motion::new(bench, &card);
        motion.check_all(report)?;
        refusals::check_all(&mut motion, report)?;
    }
    pictures::check_all(bench, report, &card)?;
    Ok(Some(card))
}

/// Ends the episode and looks whether the journal is whole.
fn end_of_episode(bench: &mut Bench) -> Result<Found> {
    let episode = bench.episode();
    bench.event(
        event::ENDED,
        json!({ "episode": episode, "reason": "policy_finished", "success": false }),
    )?;
    let Some(flushed) = bench.wait_for_event(SOON, event::FLUSHED) else {
        return Ok(Err(format!("no `flushed` within {} s", SOON.as_secs())));
    };
    let data = data(&flushed);
    let Some(batches) = data["batches"].as_u64() else {
        return Ok(Err(format!("`flushed` without the number of batches: {data}")));
    };
    if data["episode"].as_i64() != Some(episode) {
        return Ok(Err(format!("`flushed` for episode {}, expected {episode}", data["episode"])));
    }
    // What is on its way may be late; what is lost is sent again.
    let mut tries = 0;
    while bench.batches.range(..batches).count() < batches as usize && tries < 10 {
        bench.confirm(ROBOT_NODE, batches)?;
        bench.moves_by_itself();
        tries += 1;
    }
    let came = bench.batches.range(..batches).count();
    if came < batches as usize {
        return Ok(Err(format!("{came} of {batches} batches came")));
    }
    if batches > 0 && !bench.journal.contains("observation") {
        return Ok(Err("the observations are not among the recorded rows".to_owned()));
    }
    Ok(Ok(format!(
        "{batches} batches, topics {}",
        bench.journal.iter().cloned().collect::<Vec<_>>().join(", ")
    )))
}

/// A second and third episode of one seed.
fn same_seed(bench: &mut Bench, report: &mut Report, reset: &Reset, first: &Card) -> Result<()> {
    let check = "a second episode begins like the first";
    if first.clock != "sim" {
        let found = begin(bench, reset.clone())?.and_then(|card| card::check(&card));
        report.found("a second episode begins", found)?;
        report.not_made(
            "the same seed and actions give the same observations",
            "only a simulator repeats itself",
        )?;
        return Ok(());
    }
    let mut runs = Vec::new();
    for _ in 0..2 {
        match few_steps(bench, reset)? {
            Ok(run) => runs.push(run),
            Err(why) => {
                report.found(check, Err(why))?;
                return Ok(());
            }
        }
    }
    let same_start = |run: &Vec<Observation>| run.first() == Some(&first.first);
    let found = match runs.iter().all(same_start) {
        true => Ok("bit for bit".to_owned()),
        false => {
            Err("its first observation differs from the first episode's, with the same seed"
                .to_owned())
        }
    };
    report.found(check, found)?;
    let found = match runs[0] == runs[1] {
        true => Ok(format!("{SAME_STEPS} steps, bit for bit")),
        false => Err(format!("two runs of {SAME_STEPS} steps differ")),
    };
    report.found("the same seed and actions give the same observations", found)?;
    Ok(())
}

/// The observations of an episode's first steps.
fn few_steps(bench: &mut Bench, reset: &Reset) -> Result<Result<Vec<Observation>, String>> {
    let card = match begin(bench, reset.clone())? {
        Ok(card) => card,
        Err(why) => return Ok(Err(why)),
    };
    let mut run = vec![card.first.clone()];
    if card.arms.is_empty() {
        return Ok(Ok(run));
    }
    let mut motion = Motion::new(bench, &card);
    for step in 0..SAME_STEPS {
        let action = if step % 2 == 0 { motion.lift(0) } else { motion.hold(0) };
        if let Err(why) = motion.step(action)? {
            return Ok(Err(why));
        }
        run.push(motion.last.clone());
    }
    Ok(Ok(run))
}

fn begin(bench: &mut Bench, reset: Reset) -> Result<Result<Card, String>> {
    let reset = Reset { id: bench.new_id(), ..reset };
    let card = bench.begin_episode(&reset)?;
    Ok(match card {
        None => Err(format!("no card within {} s", PATIENCE.as_secs())),
        Some(card) if !card.error.is_empty() => Err(format!("the robot says {:?}", card.error)),
        Some(card) => Ok(card),
    })
}

/// An episode in which an arm can be moved; what is in the way of it is reported.
fn episode_with_arm(
    bench: &mut Bench,
    report: &mut Report,
    check: &str,
    reset: Reset,
) -> Result<Option<Card>> {
    match begin(bench, reset)? {
        Ok(card) if !card.arms.is_empty() => return Ok(Some(card)),
        Ok(_) => report.not_made(check, "the robot has no arm")?,
        Err(why) => {
            report.found(check, Err(why))?;
        }
    }
    Ok(None)
}

fn truncation(bench: &mut Bench, report: &mut Report, reset: &Reset) -> Result<()> {
    let check = "max_control_steps ends the episode with `truncated`";
    let reset = Reset { max_control_steps: FEW_STEPS, ..reset.clone() };
    let Some(card) = episode_with_arm(bench, report, check, reset)? else { return Ok(()) };
    let mut motion = Motion::new(bench, &card);
    let mut truncated = Vec::new();
    for _ in 0..FEW_STEPS {
        if let Err(why) = motion.step(motion.hold(0))? {
            report.found(check, Err(why))?;
            return Ok(());
        }
        truncated.push(motion.last.truncated);
    }
    let found = match truncated.iter().position(|t| *t) {
        Some(at) if at + 1 == FEW_STEPS as usize => Ok(String::new()),
        Some(at) => Err(format!("truncated after {} steps instead of {FEW_STEPS}", at + 1)),
        None => Err(format!("not truncated after {FEW_STEPS} steps")),
    };
    report.found(check, found)?;
    Ok(())
}

fn bad_reset(bench: &mut Bench, report: &mut Report, reset: &Reset, card: &Card) -> Result<()> {
    let check = "a reset that can't be done is answered with an error";
    if !card.judged {
        return report.not_made(check, "the robot belongs to no benchmark");
    }
    let bad = Reset { id: bench.new_id(), suite: "no_such_suite".to_owned(), ..reset.clone() };
    let found = match bench.begin_episode(&bad)? {
        None => Err("it was not answered".to_owned()),
        Some(card) if card.error.is_empty() => {
            Err("a suite that is not there was set up".to_owned())
        }
        Some(card) => Ok(card.error),
    };
    report.found(check, found)?;
    Ok(())
}

/// After `stopped` a robot may refuse actions or answer them, but it stays where it is.
fn emergency_stop(bench: &mut Bench, report: &mut Report, reset: &Reset) -> Result<()> {
    let check = "an emergency stop holds it";
    let Some(card) = episode_with_arm(bench, report, check, reset.clone())? else {
        return Ok(());
    };
    let mut motion = Motion::new(bench, &card);
    for _ in 0..FEW_STEPS {
        if let Err(why) = motion.step(motion.lift(0))? {
            report.found(check, Err(why))?;
            return Ok(());
        }
    }
    let lift = motion.lift(0);
    let stopped_at = motion.state(0).eef_pos;
    bench.event(event::STOPPED, json!({}))?;
    // An action that overtakes the event would count as motion after it.
    bench.moves_by_itself();
    let (mut refused, mut last) = (0, stopped_at);
    for _ in 0..AFTER_STOP {
        match bench.act(lift.clone())? {
            Some(Answer::Refused(_)) => refused += 1,
            Some(Answer::Observation(observation)) => last = observation.arms[0].eef_pos,
            None => {}
        }
    }
    let moved = norm(minus(last, stopped_at));
    let measured =
        format!("{refused} of {AFTER_STOP} actions refused, {:.1} mm moved", moved * 1e3);
    report.found(check, if moved <= BRAKING { Ok(measured) } else { Err(measured) })?;
    Ok(())
}

fn end_of_run(bench: &mut Bench, report: &mut Report) -> Result<()> {
    bench.event(event::SHUTDOWN, json!({}))?;
    let gone = bench.wait(SHUTDOWN_WAIT, |seen| matches!(seen, Seen::Gone).then_some(()));
    let found = gone
        .map(|()| String::new())
        .ok_or(format!("still there {} s later", SHUTDOWN_WAIT.as_secs()));
    report.found("it ends when told to", found)?;
    Ok(())
}

fn data(event: &Event) -> Value {
    serde_json::from_str(&event.data).unwrap_or_default()
}
