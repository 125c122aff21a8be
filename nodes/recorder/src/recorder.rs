use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use image_codec::{Format, Rgb};
use ruaflow_record::{LiveLock, RecordError, RunDir, frame_rows, stamped_batch, write_atomically};
use ruaflow_schemas::{
    CallResult, CameraFrame, Card, Event, Frame, FrameRequest, Observation, Receipt, Rows, event,
};
use serde_json::{Value, json};

use crate::arrivals::{Arrival, Arrivals};
use crate::batch::{Incoming, TopicRows};
use crate::pictures::{Mode, Picture, Pictures};
use crate::plain;
use crate::store::{Store, make_folder};

/// The planner waits for `recorded` a little longer than this.
const CLOSE_WITHIN: Duration = Duration::from_secs(4);
/// Pictures may delay the end of an episode this long.
const PICTURES_WITHIN: Duration = Duration::from_secs(2);
const CLOSING_TICK: Duration = Duration::from_millis(50);
/// Different warnings told before the recorder falls silent.
const MAX_WARNINGS: usize = 64;

/// What the recorder wants to send.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Out {
    Receipt(Receipt),
    FrameRequest(FrameRequest),
    Event { kind: &'static str, message: String, data: Value },
}

/// The recorder without its dataflow: what comes in, what is written, what goes out.
pub(crate) struct Recorder {
    name: String,
    planner: String,
    nodes: BTreeMap<String, Source>,
    store: Option<Store>,
    lock: Option<LiveLock>,
    pictures: Pictures,
    closing: Option<Closing>,
    /// Episode that was closed last.
    closed: Option<u32>,
    /// Nothing can be written any more.
    broken: bool,
    episode: Option<u32>,
    last: Last,
    warned: BTreeSet<String>,
    events_sent: u64,
    out: Vec<Out>,
}

/// A node whose rows are recorded.
#[derive(Default)]
struct Source {
    arrivals: Arrivals<Incoming>,
    /// Episode the node has flushed last, and its number of batches then.
    flushed: Option<(u32, u64)>,
    gone: bool,
    lost: u64,
}

/// An episode that has ended and is not yet whole.
struct Closing {
    episode: u32,
    since: Instant,
    /// Since when all rows are there and only pictures are waited for.
    pictures_since: Option<Instant>,
}

/// What the robot measured last in the episode.
#[derive(Clone, Copy, Default)]
struct Last {
    control_step: u64,
    terminated: bool,
    truncated: bool,
    success: bool,
}

impl Recorder {
    /// `nodes` are those whose rows are recorded, the planner among them.
    pub fn new(name: &str, planner: &str, nodes: BTreeSet<String>, mode: Mode) -> Self {
        Recorder {
            name: name.to_owned(),
            planner: planner.to_owned(),
            nodes: nodes.into_iter().map(|node| (node, Source::default())).collect(),
            store: None,
            lock: None,
            pictures: Pictures::new(mode),
            closing: None,
            closed: None,
            broken: false,
            episode: None,
            last: Last::default(),
            warned: BTreeSet::new(),
            events_sent: 0,
            out: Vec::new(),
        }
    }

    pub fn dir(&self) -> Option<&RunDir> {
        self.store.as_ref().map(Store::dir)
    }

    /// What there is to send.
    pub fn take_out(&mut self) -> Vec<Out> {
        std::mem::take(&mut self.out)
    }

    /// A numbered batch of a node. Before the run's folder is known it is left
    /// unconfirmed, so that the node keeps it and is asked for it later.
    pub fn batch(&mut self, node: &str, number: Option<i64>, batch: Incoming, now: Instant) {
        if self.store.is_none() {
            return;
        }
        let Some(source) = self.nodes.get_mut(node) else { return };
        let bytes = batch.bytes();
        let arrival = match number.and_then(|n| u64::try_from(n).ok()) {
            Some(number) => source.arrivals.arrive(number, bytes, batch, now),
            None => Arrival::Absurd,
        };
        match arrival {
            Arrival::Ready(batches) => self.write(node, batches, now),
            Arrival::Absurd => {
                self.warn(node, &format!("a batch with the number {number:?} is refused"));
            }
        }
    }

    /// An event, live or from a node's rows; the second time changes nothing.
    pub fn event(&mut self, node: &str, event: &Event, now: Instant) {
        let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
        let episode = data["episode"].as_u64().and_then(|n| u32::try_from(n).ok());
        let from_planner = node == self.planner;
        match (event.kind.as_str(), episode) {
            (event::RUN, _) if from_planner => self.open(&data),
            (event::STARTED, Some(n)) if from_planner && self.episode != Some(n) => {
                self.episode = Some(n);
                self.last = Last::default();
                if let Some(store) = &mut self.store {
                    store.set_current(n);
                }
            }
            (event::ENDED, Some(n)) if from_planner => {
                self.flushed(node, n, &data, now);
                if self.closing.is_none() && self.episode == Some(n) && self.closed != Some(n) {
                    self.closing = Some(Closing { episode: n, since: now, pictures_since: None });
                }
            }
            (event::FLUSHED, Some(n)) => self.flushed(node, n, &data, now),
            _ => {}
        }
    }

    /// A picture; it may be somebody else's.
    pub fn frame(&mut self, rows: &Rows<CameraFrame>) {
        for frame in rows.iter() {
            let Some(picture) = self.pictures.answered(frame.id()) else { continue };
            if !frame.error().is_empty() {
                self.warn("", &format!("no picture {}: {}", picture.file_name(), frame.error()));
                continue;
            }
            let rgb = Rgb {
                width: frame.width(),
                height: frame.height(),
                pixels: frame.color().to_vec(),
            };
            // A robot without a past pictures what is now.
            let picture = Picture { control_step: frame.control_step(), ..picture };
            self.keep_picture(&picture, &rgb);
        }
    }

    /// A node that has gone sends nothing more.
    pub fn gone(&mut self, node: &str) {
        if let Some(source) = self.nodes.get_mut(node) {
            source.gone = true;
        }
    }

    /// Whether all nodes but the planner have gone.
    pub fn alone(&self) -> bool {
        self.nodes.iter().all(|(node, source)| source.gone || *node == self.planner)
    }

    /// Does what time demands: asks again, gives up, closes the episode.
    pub fn tick(&mut self, now: Instant) {
        let names: Vec<String> = self.nodes.keys().cloned().collect();
        for node in &names {
            let Some(source) = self.nodes.get_mut(node) else { continue };
            if let Some((lost, ready)) = source.arrivals.give_up(now) {
                source.lost += lost.len() as u64;
                let few: Vec<u64> = lost.iter().copied().take(8).collect();
                self.warn(
                    node,
                    &format!("{} batches of rows of node {node:?} are lost: {few:?}", lost.len()),
                );
                self.write(node, ready, now);
            }
            let Some(source) = self.nodes.get_mut(node) else { continue };
            if self.store.is_some()
                && !source.gone
                && let Some(confirmation) = source.arrivals.confirm(now)
            {
                let (through, missing) = (confirmation.through, confirmation.missing);
                self.out.push(Out::Receipt(Receipt { node: node.clone(), through, missing }));
            }
        }
        self.close(now);
        let requests = if self.broken { Vec::new() } else { self.pictures.requests() };
        self.out.extend(requests.into_iter().map(Out::FrameRequest));
    }

    /// When `tick` has something to do, should nothing else happen.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        let asking = self.nodes.values().filter(|s| !s.gone).filter_map(|s| s.arrivals.due()).min();
        let closing = self.closing.as_ref().map(|_| now + CLOSING_TICK);
        asking.into_iter().chain(closing).min()
    }

    /// Ends all files. Nothing can be written afterwards.
    pub fn finish(&mut self) -> Result<(), RecordError> {
        let result = self.store.as_mut().map_or(Ok(()), Store::finish_all);
        self.lock = None;
        result
    }

    fn open(&mut self, data: &Value) {
        if self.store.is_none() {
            let (run, dir) = (
                data["run"].as_str().unwrap_or_default(),
                data["dir"].as_str().unwrap_or_default(),
            );
            match open_run(run, Path::new(dir)) {
                Ok((dir, lock)) => {
                    self.store = Some(Store::new(dir));
                    self.lock = Some(lock);
                }
                Err(error) => {
                    self.fail(&error);
                    return;
                }
            }
        }
        self.say(event::READY, String::new(), json!({}));
    }

    fn flushed(&mut self, node: &str, episode: u32, data: &Value, now: Instant) {
        if let (Some(source), Some(batches)) = (self.nodes.get_mut(node), data["batches"].as_u64())
        {
            source.flushed = Some((episode, batches));
            source.arrivals.expect(batches, now);
        }
    }

    fn write(&mut self, node: &str, batches: Vec<Incoming>, now: Instant) {
        for batch in batches {
            match batch.check() {
                Ok(parts) => {
                    for rows in parts {
                        self.write_rows(node, &rows, now);
                    }
                }
                Err(refusal) => {
                    self.warn(node, &format!("rows of node {node:?} are refused: {refusal}"))
                }
            }
        }
    }

    fn write_rows(&mut self, node: &str, rows: &TopicRows, now: Instant) {
        let from_planner = node == self.planner;
        let Some(store) = &mut self.store else { return };
        if !self.broken {
            let written = store.append(rows).and_then(|done| {
                plain::write(store.dir(), done.episode, rows, from_planner).map(|()| done.oddity)
            });
            match written {
                Ok(None) => {}
                Ok(Some(oddity)) => self.warn(node, &oddity),
                Err(error) => self.fail(&error),
            }
        }
        self.learn(node, rows, now);
    }

    /// Takes from the rows what the recorder itself has to know.
    fn learn(&mut self, node: &str, rows: &TopicRows, now: Instant) {
        let current = rows.episode.is_some() && rows.episode == self.episode;
        match rows.topic.as_str() {
            Event::TOPIC => {
                if let Ok(events) = frame_rows::<Event>(&rows.rows) {
                    for row in events
                        .iter()
                        .filter(|row| [event::FLUSHED, event::ENDED].contains(&row.kind()))
                    {
                        self.event(node, &row.to_owned(), now);
                    }
                }
            }
            Observation::TOPIC if current => {
                if let Ok(observations) = frame_rows::<Observation>(&rows.rows) {
                    for row in observations.iter() {
                        self.last = Last {
                            control_step: row.control_step(),
                            terminated: row.terminated(),
                            truncated: row.truncated(),
                            success: row.success(),
                        };
                    }
                }
            }
            CallResult::TOPIC if current => {
                if let Ok(results) = frame_rows::<CallResult>(&rows.rows) {
                    for row in results.iter() {
                        self.pictures.call_ended(row.observation().control_step());
                    }
                }
            }
            Card::TOPIC if node == self.planner => {
                if let (Ok(cards), Some(episode)) = (frame_rows::<Card>(&rows.rows), rows.episode) {
                    for card in cards.to_vec().iter().filter(|card| card.error.is_empty()) {
                        self.pictures.begin(episode, card);
                    }
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, now: Instant) {
        let Some(closing) = &mut self.closing else { return };
        let episode = closing.episode;
        let missing: Vec<String> = self
            .nodes
            .iter()
            .filter(|(_, s)| !s.gone && !s.is_whole(episode))
            .map(|(n, _)| n.clone())
            .collect();
        let late = now >= closing.since + CLOSE_WITHIN;
        if !missing.is_empty() && !late && !self.broken {
            return;
        }
        let (since, begun) = (closing.since, closing.pictures_since.is_some());
        closing.pictures_since.get_or_insert(now);
        if !begun && !self.broken {
            self.pictures.end(self.last.control_step);
        }
        let absent = self.pictures.missing();
        if !absent.is_empty() && now < since + PICTURES_WITHIN && !self.broken {
            return;
        }
        if !absent.is_empty() {
            let names: Vec<String> = absent.iter().map(Picture::file_name).collect();
            self.pictures.forget();
            self.warn("", &format!("pictures that did not come in time: {}", names.join(", ")));
        }
        for node in &missing {
            self.warn(node, &format!("not all rows of node {node:?} have come"));
        }
        self.closing = None;
        self.closed = Some(episode);
        self.recorded(episode, missing, now);
    }

    fn recorded(&mut self, episode: u32, missing: Vec<String>, now: Instant) {
        let synced = self.store.as_mut().map_or(Ok(()), |store| {
            store.sync()?;
            store.finish_before(episode)
        });
        if let Err(error) = synced {
            self.fail(&error);
        }
        for (node, source) in self.nodes.iter_mut().filter(|(_, source)| !source.gone) {
            let confirmation = source.arrivals.confirm_at_once(now);
            let (through, missing) = (confirmation.through, confirmation.missing);
            self.out.push(Out::Receipt(Receipt { node: node.clone(), through, missing }));
        }
        let lost: u64 =
            self.nodes.values_mut().map(|source| std::mem::take(&mut source.lost)).sum();
        let last = self.last;
        let data = json!({
            "episode": episode,
            "complete": missing.is_empty() && lost == 0 && !self.broken,
            "missing": missing,
            "lost_batches": lost,
            "control_step": last.control_step,
            "terminated": last.terminated,
            "truncated": last.truncated,
            "success": last.success,
        });
        self.say(event::RECORDED, String::new(), data);
    }

    fn keep_picture(&mut self, picture: &Picture, rgb: &Rgb) {
        let Some(store) = &self.store else { return };
        if self.broken {
            return;
        }
        let folder = store.dir().pictures_dir(picture.episode);
        let path = folder.join(picture.file_name());
        match image_codec::encode(rgb, Format::Png) {
            Ok(png) => {
                if let Err(error) =
                    make_folder(&folder).and_then(|()| write_atomically(&path, &png))
                {
                    self.fail(&error);
                }
            }
            Err(error) => self.warn("", &format!("no picture {}: {error}", picture.file_name())),
        }
    }

    /// Something is odd; each thing is told once.
    fn warn(&mut self, node: &str, message: &str) {
        if self.warned.len() < MAX_WARNINGS && self.warned.insert(message.to_owned()) {
            self.say(event::WARNING, message.to_owned(), json!({ "node": node }));
        }
    }

    /// Nothing can be written any more; what is there stays readable.
    fn fail(&mut self, error: &RecordError) {
        if !std::mem::replace(&mut self.broken, true) {
            self.say(event::ERROR, error.to_string(), json!({}));
        }
    }

    /// Sends an event. No journal holds the recorder's own, so it writes them itself.
    fn say(&mut self, kind: &'static str, message: String, data: Value) {
        let frame = Event {
            kind: kind.to_owned(),
            node: self.name.clone(),
            message: message.clone(),
            data: data.to_string(),
        };
        self.out.push(Out::Event { kind, message, data });
        let sent_ns = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |d| d.as_nanos() as u64);
        let rows =
            stamped_batch(self.episode.map_or(-1, i64::from), self.events_sent, sent_ns, &[frame]);
        self.events_sent += 1;
        if let Some(store) = &mut self.store
            && !self.broken
        {
            let rows = TopicRows { topic: Event::TOPIC.to_owned(), episode: self.episode, rows };
            if let Err(error) = store.append(&rows) {
                self.fail(&error);
            }
        }
    }
}

impl Source {
    /// Whether all rows of an episode are there.
    fn is_whole(&self, episode: u32) -> bool {
        self.flushed.is_some_and(|(of, batches)| of == episode && self.arrivals.has(batches))
    }
}

fn open_run(run: &str, dir: &Path) -> Result<(RunDir, LiveLock), RecordError> {
    let dir = RunDir::open(dir)?;
    if dir.run() != run {
        return Err(RecordError::NotARun(dir.root().to_owned()));
    }
    let lock = dir.hold()?;
    Ok((dir, lock))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use ruaflow_record::{RunResult, read_rows};
    use ruaflow_schemas::{Bytes, Camera, Cancel, Cell, encode};

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
        fn new(mode: Mode) -> Self {
            let mut bench = Self::unopened(mode);
            bench.run_event();
            assert!(bench.kinds().contains(&event::READY));
            bench
        }

        fn unopened(mode: Mode) -> Self {
            let tmp = tempfile::tempdir().unwrap();
            let (dir, _lock) = RunDir::create(&tmp.path().join("r"), "r").unwrap();
            let nodes = BTreeSet::from(["planner".to_owned(), "libero".to_owned()]);
            let recorder = Recorder::new("recorder", "planner", nodes, mode);
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
        let mut bench = Bench::unopened(Mode::Off);
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
        assert_eq!(
            (data["complete"].clone(), data["lost_batches"].clone()),
            (false.into(), 2.into())
        );

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
    fn a_picture_that_does_not_come_costs_two_seconds_and_a_warning() {
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
        let odd =
            Incoming { topic: "touch".into(), version: 9, ..incoming(0, &[Cancel::default()]) };
        bench.recorder.batch("libero", Some(0), odd, bench.now);
        let mut reader =
            ruaflow_record::TopicReader::open(&bench.dir.topic_path(Some(0), "touch")).unwrap();
        assert_eq!(reader.next_batch().unwrap().unwrap().num_rows(), 1);
        assert_eq!(reader.schema().unwrap().metadata()["schema_version"], "9");
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
        let mut bench = Bench::unopened(Mode::Off);
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
}
