//! A process dies, or a person ends the run: it is over soon, the result says
//! who it was, every row can be read, and nothing is left.

use std::time::{Duration, Instant};

use end_to_end::policies::FOR_EVER;
use end_to_end::{Finished, Place, Records, Running, wait_until};
use ruaflow_record::{Reason, Status};
use ruaflow_schemas::{Action, CallResult, Event, Observation, event};
use rustix::process::Signal;

/// From a death to the end of the run.
const OVER: Duration = Duration::from_secs(10);

/// Starts a run and waits until it is in the middle of an episode, with rows on disk.
fn in_the_middle(place: &Place) -> Running {
    let running = place.start(place.play(FOR_EVER, []));
    let observations = place.path("out/episodes/000/observation.arrows");
    wait_until("recorded rows", || {
        ruaflow_record::read_rows::<Observation>(&observations).is_ok_and(|rows| rows.len() > 10)
    });
    running
}

/// Waits for the end that has just been caused.
fn soon_over(place: &Place, running: Running) -> Finished {
    let caused = Instant::now();
    let ended = running.wait();
    assert!(caused.elapsed() < OVER, "it took {:?}; {ended}", caused.elapsed());
    place.assert_nothing_left();
    ended
}

fn assert_failed(records: &Records, node: &str) {
    let result = records.result();
    assert_eq!(result.status, Status::Failed, "{result:?}");
    assert_eq!(result.error.as_ref().map(|error| error.node.as_str()), Some(node), "{result:?}");
    assert_eq!(result.episodes.len(), 1);
    assert!(records.assert_readable() > 5);
    assert!(records.rows::<Observation>(0).len() > 10);
}

fn a_killed_node_is_named(program: &str, node: &str) {
    let place = Place::default();
    let running = in_the_middle(&place);
    place.process(program).signal(Signal::KILL);
    let ended = soon_over(&place, running);
    ended.assert_code(1).assert_error(&[node]);
    assert!(ended.err.contains("out"), "{ended}");
    assert_failed(&place.records(), node);
}

#[test]
fn the_planner_is_killed() {
    a_killed_node_is_named("planner", "planner");
}

#[test]
fn the_cell_runner_is_killed() {
    a_killed_node_is_named("cell-runner", "cell-runner");
}

#[test]
fn the_controller_is_killed() {
    a_killed_node_is_named("controller", "controller");
}

#[test]
fn the_robot_is_killed() {
    a_killed_node_is_named("robot-template", "robot-template");
}

#[test]
fn the_recorder_is_killed() {
    a_killed_node_is_named("recorder", "recorder");
}

#[test]
fn all_nodes_are_killed_at_once() {
    let place = Place::default();
    let running = in_the_middle(&place);
    let programs = ["planner", "recorder", "cell-runner", "controller", "robot-template"];
    // All are found first: when one is gone, the others go.
    let nodes = programs.map(|program| place.process(program));
    nodes.iter().for_each(|node| node.signal(Signal::KILL));
    soon_over(&place, running).assert_code(1);
    assert_eq!(place.records().result().status, Status::Failed);
    place.records().assert_readable();
}

#[test]
fn dora_is_killed() {
    let place = Place::default();
    let running = in_the_middle(&place);
    let dora =
        place.processes().into_iter().find(|p| p.command.contains("dora run")).expect("dora");
    dora.signal(Signal::KILL);
    soon_over(&place, running).assert_code(1).assert_error(&["dora"]);
    assert_eq!(place.records().result().status, Status::Failed);
    place.records().assert_readable();
}

#[test]
fn rua_is_killed_and_its_run_can_be_repaired() {
    let place = Place::default();
    let running = in_the_middle(&place);
    let alive = place.run(place.rua(["repair", "out"]));
    alive.assert_code(1).assert_error(&["still going on"]);

    running.signal(Signal::KILL);
    running.wait().assert_code(128 + 9);
    wait_until("the nodes to end", || place.processes().is_empty() && !place.records().is_live());
    place.run(place.rua(["repair", "out"])).assert_code(0);
    let result = place.records().result();
    assert_ne!(result.status, Status::Running);
    assert!(place.records().rows::<Observation>(0).len() > 10);
    let again = place.run(place.rua(["repair", "out"]));
    again.assert_code(0);
    assert!(again.out.contains("nothing to repair"), "{again}");
}

#[test]
fn ctrl_c_ends_the_run_in_good_order() {
    let place = Place::default();
    let running = in_the_middle(&place);
    running.signal(Signal::INT);
    let ended = soon_over(&place, running);
    ended.assert_code(1);
    assert!(ended.err.contains(&place.path("out").display().to_string()), "{ended}");
    let result = place.records().result();
    assert_eq!((result.status, result.error), (Status::Interrupted, None));
    assert!(result.episodes[0].recorded);
}

#[test]
fn ctrl_c_before_the_run_has_begun_ends_it_too() {
    let place = Place::default();
    let running = place.start(place.play(FOR_EVER, []));
    wait_until("dora", || place.processes().iter().any(|p| p.command.contains("dora run")));
    running.signal(Signal::INT);
    soon_over(&place, running).assert_code(1);
}

#[test]
fn an_emergency_stop_holds_the_robot_and_ends_the_episode() {
    let place = Place::default();
    let running = in_the_middle(&place);
    let stop = place.run(place.rua(["stop", "--now"]));
    stop.assert_code(0);
    assert!(stop.out.contains("held"), "{stop}");
    soon_over(&place, running).assert_code(1);
    let records = place.records();
    assert_eq!(records.result().reason, Some(Reason::Stopped));
    // Every action was answered; the one on its way when the stop came may be refused.
    let observed = records.rows::<Observation>(0).len() - 1;
    let events = records.rows::<Event>(0);
    let refused = events.iter().filter(|event| event.kind == event::REFUSED).count();
    assert!(refused <= 1, "{events:?}");
    assert_eq!(records.rows::<Action>(0).len(), observed + refused);
    let last = records.rows::<CallResult>(0).pop().expect("a result");
    assert!(["cancelled", "", "episode_finished"].contains(&last.error.as_str()), "{last:?}");
}

#[test]
fn a_key_is_an_emergency_stop() {
    for key in ["s", " "] {
        let place = Place::default();
        let (running, mut terminal) = place.start_on_terminal(place.play(FOR_EVER, []));
        wait_until("the bar", || running.printed().contains("control steps"));
        assert!(!terminal.echoes());
        terminal.press(key);
        let ended = soon_over(&place, running);
        ended.assert_code(1);
        assert!(ended.out.contains("emergency stop"), "{ended}");
        assert!(terminal.echoes(), "the terminal is left as it was");
        assert_eq!(place.records().result().reason, Some(Reason::Stopped));
    }
}

#[test]
fn a_person_can_ask_for_a_clean_end() {
    let place = Place::default();
    let nothing = place.run(place.rua(["stop"]));
    nothing.assert_code(1).assert_error(&["no run is live"]);
    let running = in_the_middle(&place);
    place.run(place.rua(["stop", "out"])).assert_code(0);
    soon_over(&place, running).assert_code(1);
    assert_eq!(place.records().result().status, Status::Interrupted);
}
