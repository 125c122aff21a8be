#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use image_codec::{Format, Rgb};
use ruaflow_record::{
    Level, LiveLock, RecordError, RunDir, frame_rows, stamped_batch, write_atomically,
};
use ruaflow_schemas::{
    CallResult, CameraFrame, Card, Event, Frame, FrameRequest, Observation, Receipt, Rows, event,
};
use serde_json::{Value, json};

use crate::arrivals::{Arrival, Arrivals};
use crate::batch::{Incoming, TopicRows};
use crate::pictures::{Mode, Picture, Pictures};
use crate::plain;
use crate::store::{Store, make_folder};

/// Rows may delay it this long; the planner waits for `recorded` longer than for either.
const CLOSE_WITHIN: Duration = Duration::from_secs(4);
/// Pictures may delay the end of an episode this long: without a GPU the first one
/// takes seconds, more when other programs want the cores.
const PICTURES_WITHIN: Duration = Duration::from_secs(15);
const CLOSING_TICK: Duration = Duration::from_millis(50);
/// Different warnings told before the recorder falls silent.
const MAX_WARNINGS: usize = 64;

/// What of a run is kept.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keep {
    pub level: Level,
    pub pictures: Mode,
}

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
    picturing: BTreeSet<String>,
    nodes: BTreeMap<String, Source>,
    level: Level,
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
    /// Whether its last pictures have been asked for, now that all rows are there.
    pictured: bool,
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
    /// `nodes` are those whose rows are recorded, the planner among them;
    /// `picturing` are those that answer with pictures.
    pub fn new(
        name: &str,
        planner: &str,
        nodes: BTreeSet<String>,
        picturing: BTreeSet<String>,
        keep: Keep,
    ) -> Self {
        Recorder {
            name: name.to_owned(),
            planner: planner.to_owned(),
            picturing,
            nodes: nodes.into_iter().map(|node| (node, Source::default())).collect(),
            level: keep.level,
            store: None,
            lock: None,
            pictures: Pictures::new(keep.pictures),
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
            (event::STARTED, Some(n)) if from_planner => self.begin(n),
            (event::ENDED, Some(n)) if from_planner => {
                // Its `started` may still be on its way.
                self.begin(n);
                self.flushed(node, n, &data, now);
                if self.closing.is_none() && self.episode == Some(n) && self.closed != Some(n) {
                    self.closing = Some(Closing { episode: n, since: now, pictured: false });
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
        self.picturing.remove(node);
        if self.picturing.is_empty() {
            self.pictures = Pictures::new(Mode::Off);
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

    /// Episodes only count up.
    fn begin(&mut self, episode: u32) {
        if self.episode.is_some_and(|current| current >= episode) {
            return;
        }
        self.episode = Some(episode);
        self.last = Last::default();
        if let Some(store) = &mut self.store {
            store.set_current(episode);
        }
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
        if !self.broken && self.level.keeps(&rows.topic) {
            let kept = plain::without_pictures(rows);
            let written = store.append(kept.as_ref().unwrap_or(rows)).and_then(|done| {
                let pictures = plain::write(store.dir(), done.episode, rows, from_planner)?;
                pictures.into_iter().for_each(|picture| store.pack(picture));
                Ok(done.oddity)
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
                    for row in events.iter().filter(|row| {
                        [event::STARTED, event::FLUSHED, event::ENDED].contains(&row.kind())
                    }) {
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
        let since = closing.since;
        if !std::mem::replace(&mut closing.pictured, true) && !self.broken {
            self.pictures.end(self.last.control_step);
        }
        let absent = self.pictures.missing();
        // A run that has lost a node ends now, and its pictures may never come.
        let hurry = self.broken || self.nodes.values().any(|source| source.gone);
        if !absent.is_empty() && now < since + PICTURES_WITHIN && !hurry {
            return;
        }
        if !absent.is_empty() {
            let names: Vec<String> = absent.iter().map(Picture::file_name).collect();
            self.pictures.forget();
            self.warn("", &format!("pictures that did not come in time: {}", names.join(", ")));
        }
        // That nothing is written any more has been said.
        let told: &[String] = if self.broken { &[] } else { &missing };
        for node in told {
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
