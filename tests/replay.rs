//! Recorded runs once more: their actions, their cells, and as a robot.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use end_to_end::{Finished, Place, Records, policies, root};
use ruaflow_record::{Reason, RunDir, Status, TopicWriter, stamped_batch};
use ruaflow_schemas::{Card, Frame, Observation, State};
use serde_json::Value;

/// Some motion in a scene of LIBERO.
const SHORT: &str = "\
# %% close
robo.set_gripper(robo.CLOSE, steps=3)
# %% move
there = robo.move_to([-0.2, 0.0, 1.1], robo.OPEN, max_steps=6)
print(there.steps_used)
";
/// What makes a scene of LIBERO cheap.
const CHEAP: [&str; 4] = ["--perception", "none", "--settle", "2"];

/// Plays in a scene of LIBERO, without pictures.
fn libero(place: &Place, out: &str, scene: &[&str]) -> Records {
    pictured(place, out, "off", scene)
}

fn pictured(place: &Place, out: &str, pictures: &str, scene: &[&str]) -> Records {
    place.write("short.py", SHORT);
    let mut command = place.rua(["play", "--policy", "short.py", "--out", out]);
    command.args(CHEAP).args(["--pictures", pictures]).args(scene);
    place.run(command).assert_code(0);
    Records::open(&place.path(out))
}

/// Plays with the template robot.
fn template(place: &Place, out: &str, more: &[&str]) -> Records {
    let more = more.iter().copied();
    place.run(place.play_to(out, policies::THREE_CELLS, more)).assert_code(0);
    Records::open(&place.path(out))
}

fn replay(place: &Place, args: &[&str]) -> Finished {
    place.run(place.rua(["replay"].into_iter().chain(args.iter().copied())))
}

/// Rewrites the rows of a topic in the first episode.
fn tamper<F: Frame>(place: &Place, run: &str, change: impl FnOnce(&mut Vec<F>)) {
    let records = Records::open(&place.path(run));
    let mut rows = records.rows::<F>(0);
    change(&mut rows);
    let path = RunDir::open(&place.path(run)).unwrap().stream_path(Some(0), F::TOPIC);
    let batch = stamped_batch(0, 0, 0, &rows);
    // While there is a stream nobody looks for its table.
    let _ = std::fs::remove_file(&path);
    TopicWriter::create(&path, batch.schema()).unwrap().append(&batch).unwrap();
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    all
}

#[test]
fn recorded_actions_lead_to_the_same_states_bit_for_bit() {
    let place = Place::default();
    let first = libero(&place, "a", &["--suite", "libero_object", "--task", "2", "--seed", "7"]);
    libero(&place, "b", &["--suite", "libero_goal", "--task", "7", "--episodes", "2"]);
    libero(&place, "c", &["--from", "a:5"]);
    template(&place, "d", &["--seed", "3"]);
    let before = files(&place.path("a"));

    let ended = replay(&place, &["a", "b", "c", "d", "--json"]);
    ended.assert_code(0);
    let told: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((&told["equal"], &told["different"]), (&5.into(), &0.into()), "{told}");
    for episode in told["episodes"].as_array().unwrap() {
        let steps = episode["steps"].as_u64().unwrap();
        assert!(steps > 5, "{episode}");
        assert_eq!(episode["compared"], steps + 1, "{episode}");
        assert_eq!(episode["other_versions"], Value::Array(Vec::new()), "{episode}");
    }
    assert_eq!(told["episodes"][0]["steps"], first.result().env_steps);
    assert!(before == files(&place.path("a")), "a replay changes nothing");

    let one = replay(&place, &["b", "--episode", "1"]);
    one.assert_code(0);
    assert!(one.out.contains("✓ b 1: libero_goal 7, seed 1"), "{one}");
    place.assert_nothing_left();
}

#[test]
fn a_changed_number_is_found_where_it_is() {
    let place = Place::default();
    libero(&place, "a", &["--suite", "libero_object", "--task", "0"]);
    template(&place, "good", &[]);
    tamper(&place, "a", |states: &mut Vec<State>| {
        let number = &mut states[6].integration[11];
        *number = f64::from_bits(number.to_bits() ^ 1);
    });
    let ended = replay(&place, &["a", "good"]);
    ended.assert_code(1);
    assert!(ended.out.contains("different at control step 6, integration[11]"), "{ended}");
    assert!(ended.out.contains("1 equal, 1 different"), "{ended}");
}

#[test]
fn what_cannot_be_replayed_says_why() {
    let place = Place::default();
    template(&place, "out", &[]);
    template(&place, "light", &["--record", "light"]);
    let refused = |args: &[&str], words: &[&str]| {
        replay(&place, args).assert_code(2).assert_error(words);
    };
    refused(&["nowhere"], &["nowhere", "not a run folder"]);
    refused(&["out", "--episode", "7"], &["no episode 7"]);
    refused(&["light"], &["--record standard"]);
    refused(&["out", "--robot", "robot-template"], &["--arm-robot"]);
    refused(&["out", "--arm-robot"], &["--robot"]);

    let result = Records::open(&place.path("out")).path("result.json");
    let text = std::fs::read_to_string(&result).unwrap();
    std::fs::write(&result, text.replace("ruaflow-run-v1", "ruaflow-run-v9")).unwrap();
    refused(&["out"], &["ruaflow-run-v9"]);
    std::fs::write(&result, text).unwrap();

    // The light one does not keep the other from being replayed.
    let both = replay(&place, &["out", "light"]);
    both.assert_code(2);
    assert!(both.out.contains("1 equal, 0 different, 1 not replayed"), "{both}");

    tamper(&place, "out", |cards: &mut Vec<Card>| {
        cards.iter_mut().for_each(|card| card.clock = "monotonic".into());
    });
    refused(&["out"], &["real robot", "--arm-robot"]);
    refused(&["out", "--cells"], &["real robot", "--arm-robot"]);
}

#[test]
fn a_live_robot_makes_the_recorded_actions_when_it_is_armed() {
    let place = Place::default();
    let steps = template(&place, "out", &["--seed", "2"]).result().env_steps;
    let ended = replay(&place, &["out", "--robot", "robot-template", "--arm-robot"]);
    ended.assert_code(0);
    assert!(ended.out.contains(&format!("made {steps} of {steps} control steps")), "{ended}");
    place.assert_nothing_left();

    // The box of the recorded robot is the live one's, too.
    tamper(&place, "out", |actions: &mut Vec<ruaflow_schemas::Action>| {
        actions[3].values[2] = 1.5;
    });
    let ended = replay(&place, &["out", "--robot", "robot-template", "--arm-robot"]);
    ended.assert_code(1);
    assert!(ended.out.contains(&format!("made 3 of {steps} control steps: values[2]")), "{ended}");
}

#[test]
fn recorded_cells_are_run_again_and_compared() {
    let place = Place::default();
    let old = template(&place, "out", &["--seed", "4"]);
    let ended = replay(&place, &["out", "--cells", "--out", "again"]);
    ended.assert_code(0);
    for part in ["verdict: not judged", "calls: ", "trajectory: "] {
        assert!(ended.out.contains(&format!("✓ episode 0, {part}")), "{ended}");
    }
    let new = Records::open(&place.path("again"));
    let (old, result) = (old.result(), new.result());
    assert_eq!((result.planner.as_str(), result.seed), ("recording", 4));
    assert_eq!((result.cells, result.calls), (old.cells, old.calls));
    place.assert_nothing_left();

    tamper(&place, "out", |states: &mut Vec<State>| states[9].integration[0] += 0.5);
    let ended = replay(&place, &["out", "--cells", "--json"]);
    ended.assert_code(1);
    let told: Value = serde_json::from_str(&ended.out).unwrap();
    let episode = &told[0]["episodes"][0];
    assert_eq!(episode["calls"]["same"], true, "{told}");
    assert_eq!(episode["trajectory"]["same"], false, "{told}");
    assert!(episode["trajectory"]["note"].as_str().unwrap().contains("step 9"), "{told}");
    std::fs::remove_dir_all(told[0]["dir"].as_str().unwrap()).unwrap();
}

#[test]
fn cells_of_several_scenes_and_of_a_recorded_beginning_are_run_again() {
    let place = Place::default();
    libero(&place, "a", &["--suite", "libero_object", "--task", "2", "--episodes", "2"]);
    libero(&place, "b", &["--from", "a:1:3"]);
    for (run, episodes) in [("a", 2), ("b", 1)] {
        let again = format!("{run}-again");
        let ended = replay(&place, &[run, "--cells", "--out", &again, "--json"]);
        ended.assert_code(0);
        let told: Value = serde_json::from_str(&ended.out).unwrap();
        let compared = told[0]["episodes"].as_array().unwrap();
        assert_eq!(compared.len(), episodes, "{told}");
        let same = |episode: &Value| {
            ["verdict", "calls", "trajectory"].iter().all(|part| episode[part]["same"] == true)
        };
        assert!(compared.iter().all(same), "{told}");
    }
}

/// What was measured, without what a recording leaves to the judge.
fn measured(records: &Records) -> Vec<(u64, u64, Vec<ruaflow_schemas::ArmState>)> {
    let rows = records.rows::<Observation>(0).into_iter();
    rows.map(|row| (row.control_step, row.time_ns, row.arms)).collect()
}

#[test]
fn a_recording_plays_as_a_robot_at_its_own_pace() {
    let place = Place::default();
    let scene = ["--suite", "libero_object", "--task", "2"];
    let old = pictured(&place, "out", "ends", &scene);
    let mut command = place.rua(["play", "--robot", "replay", "--recording", "out"]);
    command.args(["--speed", "0.25", "--pictures", "ends", "--out", "again"]);
    place.run(command).assert_code(0);
    place.assert_nothing_left();
    let new = Records::open(&place.path("again"));
    assert_eq!(measured(&new), measured(&old));
    let result = new.result();
    assert_eq!((result.status, result.reason), (Status::Completed, Some(Reason::Truncated)));
    assert!(!result.environment_success && !result.episodes[0].judged);
    assert_eq!((result.robot.as_str(), result.suite.as_str()), ("libero", "libero_object"));
    let picture = "episodes/000/pictures/00000-agentview.png";
    let [then, now] = [&old, &new].map(|records| std::fs::read(records.path(picture)).unwrap());
    assert!(then == now, "a picture of a recorded state is the one that was made then");
}

#[test]
fn stepwise_each_action_brings_the_next_measurement() {
    let place = Place::default();
    let old = template(&place, "out", &[]);
    let steps = old.result().env_steps;
    place.write("steps.py", &format!("# %%\nrobo.set_gripper(1, steps={})\n", steps + 5));
    let policy = place.path("steps.py").display().to_string();
    let mut command = place.command(
        std::env::var_os("RUAFLOW_DORA").map_or_else(|| root().join(".venv/bin/dora"), Into::into),
    );
    command.arg("run").arg(root().join("dataflows/replay.yml"));
    for (name, value) in [
        ("RECORDING", place.path("out").display().to_string()),
        ("SPEED", "step".to_owned()),
        ("POLICY", policy),
        ("OUT", place.path("again").display().to_string()),
    ] {
        command.env(name, value);
    }
    place.run(command).assert_code(0);
    let new = Records::open(&place.path("again"));
    assert_eq!(measured(&new), measured(&old));
    assert_eq!((new.result().reason, new.result().env_steps), (Some(Reason::Truncated), steps));
    place.assert_nothing_left();
}

#[test]
fn a_recording_that_is_not_there_ends_the_run_with_its_name() {
    let place = Place::default();
    let missing = ["play", "--robot", "replay", "--recording", "nowhere", "--out", "x"];
    place.run(place.rua(missing)).assert_code(2).assert_error(&["nowhere"]);
    let none = place.run(place.rua(["play", "--robot", "replay", "--out", "y"]));
    none.assert_code(1).assert_error(&["RECORDING is empty"]);
    place.assert_nothing_left();
}
