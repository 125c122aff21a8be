use std::collections::BTreeSet;
use std::fs;

use ruaflow_record::{RunResult, read_rows};
use ruaflow_schemas::{Bytes, Camera, Cancel, Cell, CellResult, Picture, State, encode};

use super::*;
use crate::batch::tests::incoming;

struct Bench {
    _tmp: tempfile::TempDir,
    dir: RunDir,
    recorder: Recorder,
    now: Instant,
    sent: BTreeMap<&'static str, i64>,
}

impl Bench {
    /// A recorder of the nodes `planner` and `libero`, with its run open.
    fn new(pictures: Mode) -> Self {
        Self::keeping(Keep { pictures, ..Keep::default() })
    }

    fn keeping(keep: Keep) -> Self {
        let mut bench = Self::unopened(keep);
        bench.run_event();
        assert!(bench.kinds().contains(&event::READY));
        bench
    }

    fn unopened(keep: Keep) -> Self {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, _lock) = RunDir::create(&tmp.path().join("r"), "r").unwrap();
        let nodes = BTreeSet::from(["planner".to_owned(), "libero".to_owned()]);
        let recorder = Recorder::new(
            "recorder",
            "planner",
            nodes,
            BTreeSet::from(["libero".to_owned()]),
            keep,
        );
        Bench { _tmp: tmp, dir, recorder, now: Instant::now(), sent: BTreeMap::new() }
    }

    fn run_event(&mut self) {
        let dir = self.dir.root().to_owned();
        self.event("planner", event::RUN, json!({ "run": "r", "dir": dir }));
    }

    fn event(&mut self, node: &str, kind: &str, data: Value) {
        let event = Event { kind: kind.into(), data: data.to_string(), ..Event::default() };
        self.recorder.event(node, &event, self.now);
    }

    /// Sends the node's next batch, with one row.
    fn send<F: Frame>(&mut self, node: &'static str, episode: i64, frame: F) {
        let number = self.sent.entry(node).or_default();
        let at = *number;
        *number += 1;
        self.resend(node, at, episode, frame);
    }

    fn resend<F: Frame>(&mut self, node: &str, number: i64, episode: i64, frame: F) {
        self.recorder.batch(node, Some(number), incoming(episode, &[frame]), self.now);
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        self.recorder.tick(self.now);
    }

    fn out(&mut self) -> Vec<Out> {
        self.recorder.tick(self.now);
        self.recorder.take_out()
    }

    fn kinds(&mut self) -> Vec<&'static str> {
        let out = self.out();
        out.iter()
            .filter_map(|o| if let Out::Event { kind, .. } = o { Some(*kind) } else { None })
            .collect()
    }

    fn recorded(&mut self) -> Option<Value> {
        self.out().into_iter().find_map(|o| match o {
            Out::Event { kind: event::RECORDED, data, .. } => Some(data),
            _ => None,
        })
    }

    fn asked(&mut self) -> Vec<String> {
        let out = self.out();
        out.into_iter()
            .filter_map(|o| if let Out::FrameRequest(r) = o { Some(r.id) } else { None })
            .collect()
    }

    fn begin(&mut self, episode: u32) {
        self.event("planner", event::STARTED, json!({ "episode": episode }));
    }

    fn end(&mut self, episode: u32) {
        let batches = self.sent.get("planner").copied().unwrap_or(0);
        self.event("planner", event::ENDED, json!({ "episode": episode, "batches": batches }));
    }

    fn flushed(&mut self, episode: u32, batches: i64) {
        self.event("libero", event::FLUSHED, json!({ "episode": episode, "batches": batches }));
    }

    fn picture(&mut self, id: &str) {
        let color = Bytes(vec![7; 2 * 2 * 3]);
        let frame =
            CameraFrame { id: id.into(), width: 2, height: 2, color, ..CameraFrame::default() };
        let rows = Rows::read("frame", CameraFrame::VERSION, encode(&[frame])).unwrap();
        self.recorder.frame(&rows);
    }
}

fn observation(control_step: u64) -> Observation {
    Observation { control_step, success: control_step >= 2, ..Observation::default() }
}

fn card() -> Card {
    let camera = Camera { name: "agentview".into(), any_step: true, ..Camera::default() };
    Card { cameras: vec![camera], ..Card::default() }
}

fn steps(dir: &RunDir, episode: u32) -> Vec<u64> {
    let rows = read_rows::<Observation>(&dir.topic_path(Some(episode), "observation")).unwrap();
    rows.iter().map(|o| o.control_step).collect()
}

#[test]
fn an_episode_is_confirmed_when_every_node_has_said_all() {
    let mut bench = Bench::new(Mode::Off);
    bench.begin(0);
    for step in 0..3 {
        bench.send("libero", 0, observation(step));
    }
    bench.send("planner", 0, card());
    bench.end(0);
    assert_eq!(bench.recorded(), None, "libero has not flushed");
    bench.flushed(0, 4);
    assert_eq!(bench.recorded(), None, "a batch of libero is on its way");
    bench.send("libero", 0, observation(3));
    let data = bench.recorded().unwrap();
    assert_eq!((data["complete"].clone(), data["success"].clone()), (true.into(), true.into()));
    assert_eq!(data["control_step"], 3);
    assert_eq!(steps(&bench.dir, 0), [0, 1, 2, 3]);
    assert!(bench.dir.episode_dir(0).join("card.json").exists());
    assert_eq!(bench.recorded(), None, "once is enough");
}

#[test]
fn flushed_may_arrive_early_late_or_only_as_a_recorded_row() {
    let mut bench = Bench::new(Mode::Off);
    bench.begin(0);
    bench.send("libero", 0, observation(0));
    bench.flushed(0, 1);
    bench.end(0);
    assert!(bench.recorded().is_some());

    bench.begin(1);
    bench.send("libero", 1, observation(0));
    bench.end(1);
    assert!(bench.recorded().is_none());
    let data = json!({ "episode": 1, "batches": 2 }).to_string();
    bench.send("libero", 1, Event { kind: event::FLUSHED.into(), data, ..Event::default() });
    assert_eq!(bench.recorded().unwrap()["episode"], 1);
}

#[test]
fn an_end_that_overtakes_the_beginning_counts_and_an_old_beginning_does_not() {
    let mut bench = Bench::new(Mode::Off);
    bench.send("libero", 0, observation(0));
    bench.flushed(0, 1);
    bench.end(0);
    assert_eq!(bench.recorded().unwrap()["episode"], 0);
    bench.begin(1);
    bench.begin(0);
    bench.send("libero", 1, observation(7));
    bench.flushed(1, 2);
    bench.end(1);
    assert_eq!(bench.recorded().unwrap()["control_step"], 7);
}

#[test]
fn a_lost_batch_is_asked_for_and_the_file_stays_in_order() {
    let mut bench = Bench::new(Mode::Off);
    bench.begin(0);
    bench.resend("libero", 0, 0, observation(0));
    bench.out();
    bench.resend("libero", 2, 0, observation(2));
    let receipt = Receipt { node: "libero".into(), through: 1, missing: vec![1] };
    assert_eq!(bench.out(), [Out::Receipt(receipt)]);
    bench.resend("libero", 1, 0, observation(1));
    assert_eq!(steps(&bench.dir, 0), [0, 1, 2]);
}

#[test]
fn batches_from_before_the_run_is_known_are_asked_for() {
    let mut bench = Bench::unopened(Keep::default());
    bench.resend("libero", 0, -1, Cancel::default());
    assert!(bench.out().is_empty());
    bench.run_event();
    bench.resend("libero", 1, -1, Cancel::default());
    let missing = bench.out().into_iter().find_map(|o| match o {
        Out::Receipt(receipt) => Some(receipt.missing),
        _ => None,
    });
    assert_eq!(missing, Some(vec![0]));
}

#[test]
fn what_never_comes_delays_the_end_only_so_long_and_is_named() {
    let mut bench = Bench::new(Mode::Off);
    bench.begin(0);
    bench.send("libero", 0, observation(0));
    bench.end(0);
    bench.flushed(0, 3);
    let mut told = None;
    let start = bench.now;
    while told.is_none() {
        bench.wait(Duration::from_millis(100));
        assert!(bench.now < start + Duration::from_secs(5));
        told = bench.recorded();
    }
    let data = told.unwrap();
    assert_eq!((data["complete"].clone(), data["lost_batches"].clone()), (false.into(), 2.into()));

    bench.begin(1);
    bench.end(1);
    bench.wait(CLOSE_WITHIN);
    let data = bench.recorded().unwrap();
    assert_eq!(
        (data["complete"].clone(), data["missing"].clone()),
        (false.into(), json!(["libero"]))
    );
}

#[test]
fn a_dead_node_is_not_waited_for() {
    let mut bench = Bench::new(Mode::Off);
    bench.begin(0);
    bench.send("libero", 0, observation(0));
    bench.recorder.gone("libero");
    bench.end(0);
    assert!(bench.recorded().is_some());
    assert!(bench.recorder.alone());
}

#[test]
fn the_ends_are_pictured_and_kept() {
    let mut bench = Bench::new(Mode::Ends);
    bench.begin(0);
    bench.send("planner", 0, card());
    assert_eq!(bench.asked(), ["recorder-0-0-agentview"]);
    bench.picture("of-somebody-else");
    bench.picture("recorder-0-0-agentview");
    bench.send("libero", 0, observation(9));
    bench.flushed(0, 1);
    bench.end(0);
    assert_eq!(bench.asked(), ["recorder-0-9-agentview"]);
    assert_eq!(bench.recorded(), None);
    bench.picture("recorder-0-9-agentview");
    assert!(bench.recorded().is_some());
    assert!(bench.dir.pictures_dir(0).join("00000-agentview.png").exists());
}

#[test]
fn a_picture_that_does_not_come_delays_the_end_and_gives_a_warning() {
    let mut bench = Bench::new(Mode::Ends);
    bench.begin(0);
    bench.send("planner", 0, card());
    bench.flushed(0, 0);
    bench.end(0);
    bench.out();
    bench.wait(PICTURES_WITHIN - Duration::from_millis(1));
    assert_eq!(bench.recorded(), None);
    bench.wait(Duration::from_millis(1));
    let out = bench.out();
    let told = |wanted: &str, part: &str| {
        out.iter().any(|o| matches!(o, Out::Event { kind, message, .. } if *kind == wanted && message.contains(part)))
    };
    assert!(told(event::WARNING, "00000-agentview.png"), "{out:?}");
    assert!(told(event::RECORDED, ""));
}

#[test]
fn a_dead_robot_is_not_asked_for_pictures() {
    let mut bench = Bench::new(Mode::Ends);
    bench.begin(0);
    bench.send("planner", 0, card());
    assert_eq!(bench.asked().len(), 1);
    bench.recorder.gone("libero");
    bench.end(0);
    assert!(bench.recorded().is_some());
}

#[test]
fn hostile_batches_are_refused_with_one_warning_each_and_hold_nothing_up() {
    let mut bench = Bench::new(Mode::Off);
    bench.begin(0);
    let evil = || Incoming { topic: "../../evil".into(), ..incoming(0, &[Cancel::default()]) };
    bench.recorder.batch("libero", Some(0), evil(), bench.now);
    bench.recorder.batch("libero", Some(1), evil(), bench.now);
    assert_eq!(bench.kinds(), [event::WARNING]);
    bench.recorder.batch("libero", Some(i64::MAX), incoming(0, &[observation(0)]), bench.now);
    bench.recorder.batch("libero", Some(-1), incoming(0, &[observation(0)]), bench.now);
    bench.recorder.batch("libero", None, incoming(0, &[observation(0)]), bench.now);
    bench.recorder.batch("stranger", Some(0), incoming(0, &[observation(0)]), bench.now);
    bench.resend("libero", 2, 0, observation(5));
    bench.flushed(0, 3);
    bench.end(0);
    assert!(bench.recorded().is_some());
    assert_eq!(steps(&bench.dir, 0), [5]);
    let outside: Vec<_> = fs::read_dir(bench.dir.root().parent().unwrap()).unwrap().collect();
    assert_eq!(outside.len(), 1);
}

#[test]
fn a_cell_of_an_unheard_of_episode_is_not_worth_a_folder() {
    let mut bench = Bench::new(Mode::Off);
    bench.begin(0);
    bench.send("planner", 999, Cell { index: 1, code: "1".into(), ..Cell::default() });
    bench.send("planner", 0, Cell { index: 1, code: "2".into(), ..Cell::default() });
    assert_eq!(bench.kinds(), [event::WARNING]);
    assert_eq!(fs::read_dir(bench.dir.episodes_dir()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(bench.dir.cells_dir(0).join("001.py")).unwrap(), "2");
}

#[test]
fn an_unknown_topic_is_recorded_under_its_own_schema() {
    let mut bench = Bench::new(Mode::Off);
    bench.begin(0);
    let odd = Incoming { topic: "touch".into(), version: 9, ..incoming(0, &[Cancel::default()]) };
    bench.recorder.batch("libero", Some(0), odd, bench.now);
    let mut reader =
        ruaflow_record::TopicReader::open(&bench.dir.topic_path(Some(0), "touch")).unwrap();
    assert_eq!(reader.next_batch().unwrap().unwrap().num_rows(), 1);
    assert_eq!(reader.schema().unwrap().metadata()["schema_version"], "9");
}

#[test]
fn the_level_light_keeps_no_state_and_all_that_is_judged_by() {
    let mut bench = Bench::keeping(Keep { level: Level::Light, pictures: Mode::Off });
    bench.begin(0);
    bench.send("libero", 0, State::default());
    bench.send("libero", 0, observation(3));
    bench.end(0);
    bench.flushed(0, 2);
    let recorded = bench.recorded().unwrap();
    assert_eq!(
        (recorded["complete"].clone(), recorded["control_step"].clone()),
        (true.into(), 3.into())
    );
    assert_eq!(steps(&bench.dir, 0), [3]);
    assert!(!bench.dir.topic_path(Some(0), "state").exists());
}

#[test]
fn a_picture_that_the_agent_saw_is_on_disk_once() {
    let mut bench = Bench::new(Mode::Off);
    bench.begin(0);
    let seen =
        Picture { name: "wrist".into(), png: Bytes(b"a png".to_vec()), ..Picture::default() };
    let result = CellResult { index: 1, images: vec![seen], ..CellResult::default() };
    bench.send("libero", 0, result);
    bench.out();
    let path = bench.dir.topic_path(Some(0), "cell_result");
    let rows = read_rows::<CellResult>(&path).unwrap();
    assert_eq!(rows[0].images[0].name, "wrist");
    assert!(rows[0].images[0].png.0.is_empty());
    let file = bench.dir.cells_dir(0).join("001.1-wrist.png");
    assert_eq!(fs::read(file).unwrap(), b"a png");
}

#[test]
fn a_folder_that_vanishes_ends_the_recording_with_one_error() {
    let mut bench = Bench::new(Mode::Off);
    bench.begin(0);
    fs::remove_dir_all(bench.dir.root()).unwrap();
    bench.send("libero", 0, observation(0));
    bench.send("libero", 0, observation(1));
    assert_eq!(bench.kinds(), [event::ERROR]);
    bench.end(0);
    assert_eq!(bench.recorded().unwrap()["complete"], false);
}

#[test]
fn only_the_planner_opens_and_ends_a_run() {
    let mut bench = Bench::unopened(Keep::default());
    let dir = bench.dir.root().to_owned();
    bench.event("libero", event::RUN, json!({ "run": "r", "dir": dir }));
    assert!(bench.kinds().is_empty());
    bench.event("planner", event::RUN, json!({ "run": "other", "dir": dir }));
    assert_eq!(bench.kinds(), [event::ERROR], "the folder belongs to another run");
}

#[test]
fn the_run_is_alive_while_it_is_recorded() {
    let mut bench = Bench::new(Mode::Off);
    let result = RunResult { schema: RunResult::SCHEMA.into(), ..RunResult::default() };
    bench.dir.write_result(&result).unwrap();
    assert!(bench.dir.is_live());
    bench.recorder.finish().unwrap();
    assert!(!bench.dir.is_live());
}
