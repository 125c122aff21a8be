//! Recorded actions sent to a live robot: on a person's word only, within limits, at
//! the recorded rate.
//!
//! The robot's node runs in a dataflow of its own, beside a mover that stands for
//! planner and controller. The mover is this program again.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use action_limits::Violation;
use eyre::{ContextCompat as _, Result, WrapErr as _, bail, eyre};
use ruaflow_kit::Settings;
use ruaflow_record::{Recording, RecordingAddress};
use ruaflow_schemas::{Action, Arm, Card, Observation, Reset, event};
use serde::{Deserialize, Serialize};
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::{Recorded, Replay};
use crate::check_robot::bench::{Answer, Bench, SOON, Seen};
use crate::check_robot::{find_node, flow_text};
use crate::clone::Clone;
use crate::failure::usage;
use crate::flow::Flow;
use crate::print;
use crate::settings_file::SettingsFile;

/// The setting that names the report's file.
const REPORT: &str = "ROBOT_MOVER_REPORT";
const TICK: Duration = Duration::from_millis(50);
/// How far the arm may stand from where the recording began, metres.
const START_TOLERANCE: f64 = 0.05;

pub fn run(args: &Replay, runs: &[Recorded], robot: &str) -> Result<ExitCode> {
    let [Recorded { name, dir, episodes }] = runs else {
        return Err(usage("a live robot gets one run at a time"));
    };
    let [episode] = episodes[..] else {
        return Err(usage("a live robot gets one episode at a time: name it with --episode"));
    };
    let recording = Recording::read(dir, episode)?;
    let of = recording.steps().count();
    if of == 0 {
        return Err(usage("the episode has no action to send"));
    }
    let address = RecordingAddress { run: dir.root().to_owned(), episode: Some(episode) };
    let moved = send(robot, &address)?;
    if args.json {
        print::json(&json!({
            "run": name, "episode": episode, "robot": robot,
            "made": moved.made, "of": of, "reason": moved.reason,
        }))?;
    } else {
        let made = moved.made;
        print::line(match &moved.reason {
            None => format!("✓ {robot} made {made} of {of} control steps"),
            Some(reason) => format!("✗ {robot} made {made} of {of} control steps: {reason}"),
        });
    }
    Ok(if moved.reason.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What came of it.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Moved {
    /// Control steps.
    made: u64,
    /// Why there were no more, when there should have been.
    reason: Option<String>,
}

/// Runs the robot beside its mover.
fn send(robot: &str, address: &RecordingAddress) -> Result<Moved> {
    let clone = Clone::find()?;
    let node = find_node(&clone, robot)?;
    let folder = tempfile::tempdir().wrap_err("no place for the dataflow")?;
    let dataflow = folder.path().join("move-robot.yml");
    std::fs::write(&dataflow, flow_text(&node, &std::env::current_exe()?, "robot-mover"))?;
    let report = folder.path().join("report.json");
    let settings = SettingsFile::write(&BTreeMap::from([
        ("RECORDING".to_owned(), address.to_string()),
        (REPORT.to_owned(), report.display().to_string()),
    ]))?;

    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let mut flow = Flow::start(&clone.dora()?, &dataflow, settings.path())?;
    while flow.ended()?.is_none() {
        if stop.swap(false, Ordering::Relaxed) {
            // The robot holds at its end.
            flow.interrupt();
        }
        std::thread::sleep(TICK);
    }
    match std::fs::read(&report) {
        Ok(text) => Ok(serde_json::from_slice(&text)?),
        Err(_) => match flow.output().failures().first() {
            Some(failed) => bail!("node {:?}: {}", failed.node, failed.reason),
            None => bail!("it was ended before the robot had answered"),
        },
    }
}

/// The mover's process.
pub fn node() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("robot-mover: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<()> {
    let settings = Settings::load()?;
    let report = settings.text(REPORT).wrap_err("no report was asked for")?;
    let address = settings.text("RECORDING").wrap_err("no recording was named")?;
    let address: RecordingAddress = address.parse().map_err(|error: String| eyre!(error))?;
    let (dir, episodes) = address.open(Path::new(""))?;
    let recording = Recording::read(&dir, *episodes.first().wrap_err("no episode")?)?;

    let mut bench = Bench::open()?;
    let mut moved = Moved::default();
    let outcome = drive(&mut bench, &recording, &mut moved);
    // Whatever happened: the episode is over and the robot holds.
    let ended =
        json!({ "episode": bench.episode(), "reason": "policy_finished", "success": false });
    let told = bench.event(event::ENDED, ended).and(bench.event(event::SHUTDOWN, json!({})));
    moved.reason = outcome.err().map(|error| format!("{error:#}"));
    std::fs::write(&report, serde_json::to_vec(&moved)?)?;
    told?;
    bench.wait(SOON, |seen| matches!(seen, Seen::Gone).then_some(()));
    Ok(())
}

/// Sends one action after the other; the first that may not be sent ends it.
fn drive(bench: &mut Bench, recording: &Recording, moved: &mut Moved) -> Result<()> {
    if !bench.begin_run("")? {
        bail!("the robot does not answer");
    }
    let id = bench.new_id();
    // No live robot can begin in a recorded state.
    let reset = Reset { id, state: None, ..recording.reset.clone() };
    let card = bench.begin_episode(&reset)?.wrap_err("the robot sent no card")?;
    if !card.error.is_empty() {
        bail!("{}", card.error);
    }
    if let Some(reason) = misfit(&card, &recording.card) {
        bail!(reason);
    }
    let period = Duration::try_from_secs_f64(1.0 / card.control_hz).unwrap_or_default();
    let mut last = card.first.clone();
    let mut due = Instant::now();
    for action in recording.steps() {
        check(action, &card, &last)?;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        due = Instant::now() + period;
        last = match bench.act(action.clone())? {
            Some(Answer::Observation(observation)) => observation,
            Some(Answer::Refused(words)) => bail!("the robot refused: {words}"),
            None => bail!("an action was not answered within {} s", SOON.as_secs()),
        };
        moved.made += 1;
        if last.truncated {
            bail!("the robot's control steps are used up");
        }
    }
    Ok(())
}

/// Why a robot can't make what another one did.
fn misfit(live: &Card, recorded: &Card) -> Option<String> {
    if live.robot != recorded.robot {
        return Some(format!(
            "this robot is {:?}, the recording is of {:?}",
            live.robot, recorded.robot
        ));
    }
    // A unit of an action must mean the same.
    let scales = |arm: &Arm| (arm.name.clone(), arm.position_scale, arm.rotation_scale);
    if !live.arms.iter().map(scales).eq(recorded.arms.iter().map(scales)) {
        return Some("this robot's arms are not those of the recording".to_owned());
    }
    let pairs = live.first.arms.iter().zip(&recorded.first.arms);
    pairs.into_iter().find_map(|(now, then)| {
        let squares = now.eef_pos.iter().zip(&then.eef_pos).map(|(a, b)| (a - b).powi(2));
        let away = squares.sum::<f64>().sqrt();
        (away > START_TOLERANCE).then(|| {
            format!(
                "arm {:?} stands {away:.2} m from where the recording began: bring it there first",
                now.name
            )
        })
    })
}

/// What the controller checks before it sends an action, and that the gripper stays in
/// the robot's workspace.
fn check(action: &Action, card: &Card, last: &Observation) -> Result<(), Violation> {
    action_limits::range("gripper", &[action.gripper], -1.0, 1.0)?;
    if action.kind != "osc_pose_delta" {
        return action_limits::finite("values", &action.values);
    }
    action_limits::range("values", &action.values, -1.0, 1.0)?;
    let arm = card.arms.iter().find(|arm| arm.name == action.arm);
    let at = last.arms.iter().find(|arm| arm.name == action.arm);
    if let (Some(Arm { workspace: Some(corners), position_scale, .. }), Some(at)) = (arm, at) {
        let step = |axis: usize| action.values.get(axis).copied().unwrap_or_default();
        let target = std::array::from_fn(|axis| at.eef_pos[axis] + position_scale * step(axis));
        action_limits::workspace(target, *corners)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ruaflow_schemas::ArmState;

    use super::*;

    fn card(eef_pos: [f64; 3]) -> Card {
        let arm = Arm {
            name: "arm".into(),
            position_scale: 0.1,
            workspace: Some([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]),
            ..Arm::default()
        };
        let state = ArmState { name: "arm".into(), eef_pos, ..ArmState::default() };
        let first = Observation { arms: vec![state], ..Observation::default() };
        Card { robot: "real".into(), arms: vec![arm], first, ..Card::default() }
    }

    fn action(values: [f64; 6], gripper: f64) -> Action {
        Action {
            arm: "arm".into(),
            kind: "osc_pose_delta".into(),
            values: values.to_vec(),
            gripper,
            ..Action::default()
        }
    }

    #[test]
    fn an_action_out_of_its_range_or_of_the_workspace_is_not_sent() {
        let card = card([0.5, 0.5, 0.95]);
        let refused = |action: &Action| check(action, &card, &card.first).unwrap_err().to_string();
        check(&action([1.0, 0.0, 0.4, 0.0, 0.0, 0.0], -1.0), &card, &card.first).unwrap();
        assert!(refused(&action([0.0, 0.0, 0.6, 0.0, 0.0, 0.0], 0.0)).contains("z = "));
        assert!(refused(&action([0.0, 1.5, 0.0, 0.0, 0.0, 0.0], 0.0)).contains("values[1]"));
        assert!(refused(&action([f64::NAN, 0.0, 0.0, 0.0, 0.0, 0.0], 0.0)).contains("finite"));
        assert!(refused(&action([0.0; 6], 2.0)).contains("gripper"));
    }

    #[test]
    fn a_robot_that_is_another_or_stands_elsewhere_does_not_move() {
        let recorded = card([0.5, 0.5, 0.5]);
        assert_eq!(misfit(&card([0.5, 0.52, 0.5]), &recorded), None);
        let away = misfit(&card([0.5, 0.5, 0.8]), &recorded).unwrap();
        assert!(away.contains("0.30 m"), "{away}");
        let other = Card { robot: "other".into(), ..recorded.clone() };
        assert!(misfit(&other, &recorded).unwrap().contains("\"other\""));
        let mut coarser = recorded.clone();
        coarser.arms[0].position_scale = 0.2;
        assert!(misfit(&coarser, &recorded).unwrap().contains("arms"));
    }
}
