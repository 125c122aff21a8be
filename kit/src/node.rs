use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use arrow::array::ArrayRef;
use crossbeam_channel::{Receiver, RecvTimeoutError};
use dora_message::config::InputMapping;
use dora_node_api::dora_core::config::DataId;
use dora_node_api::{
    DoraArray, DoraNode, Event as DoraEvent, Metadata, MetadataParameters, Parameter,
};
use eyre::{Context as _, Result, eyre};
use ruaflow_schemas::{Event, Frame, Receipt, Rows, SchemaError, Stamp, encode, event};

use crate::journal::{Batch, Journal};

/// What a node's loop sees.
pub enum Input<L = ()> {
    /// A frame of a topic.
    Frame(Received),
    /// An event that some node sent.
    Event { node: String, event: Event },
    /// A node has gone before the run was over: it died.
    Gone { node: String },
    /// The run is over, end cleanly.
    Shutdown,
    /// dora asks to stop (Ctrl-C or `dora stop`); nothing more will come.
    Stop,
    /// The deadline given to [`Node::next`] has passed.
    Timeout,
    /// Something from the node's own threads.
    Local(L),
}

/// A frame as it came, not yet read.
pub struct Received {
    /// Topic, from the input's name in the dataflow.
    pub topic: String,
    /// Node that sent it.
    pub node: String,
    pub stamp: Stamp,
    /// Metadata beyond the stamp.
    pub parameters: MetadataParameters,
    pub array: ArrayRef,
}

impl Received {
    /// The rows, checked and read in place.
    pub fn rows<F: Frame>(&self) -> Result<Rows<F>, SchemaError> {
        Rows::read(&self.stamp.schema, self.stamp.schema_version, self.array.clone())
    }

    /// A whole number from the metadata beyond the stamp.
    pub fn integer(&self, key: &str) -> Option<i64> {
        match self.parameters.get(key) {
            Some(Parameter::Integer(value)) => Some(*value),
            _ => None,
        }
    }

    /// The first row, owned.
    pub fn row<F: Frame>(&self) -> Result<F, SchemaError> {
        let rows = self.rows::<F>()?;
        Ok(F::to_owned(rows.first()?))
    }
}

/// Hands a thread's messages to the node's loop.
pub struct Sender<L>(crossbeam_channel::Sender<Raw<L>>);

impl<L> Clone for Sender<L> {
    fn clone(&self) -> Self {
        Sender(self.0.clone())
    }
}

impl<L> Sender<L> {
    /// Returns false when the node has ended.
    pub fn send(&self, message: L) -> bool {
        self.0.send(Raw::Local(message)).is_ok()
    }
}

enum Raw<L> {
    Dora(DoraEvent),
    Local(L),
    Ended,
}

/// A node's connection to its dataflow.
///
/// `next` answers the planner's `run` with `ready`, sends what the recorder must
/// have, and sends again what got lost; a node need not think of these.
pub struct Node<L = ()> {
    dora: DoraNode,
    name: String,
    incoming: Receiver<Raw<L>>,
    sender: crossbeam_channel::Sender<Raw<L>>,
    /// Node behind each input of the dataflow.
    sources: BTreeMap<String, String>,
    queue: VecDeque<Input<L>>,
    gone: BTreeSet<String>,
    run: String,
    episode: i64,
    seqs: BTreeMap<&'static str, u64>,
    journal: Option<Journal>,
    answers_ready: bool,
    must_flush: bool,
    ending: bool,
}

impl<L: Send + 'static> Node<L> {
    /// Connects to the dataflow this process was started for.
    pub fn open() -> Result<Self> {
        let (dora, mut events) = DoraNode::init_from_env()
            .map_err(|e| eyre!("{e}"))
            .context("could not join the dataflow")?;
        let config = dora.node_config();
        let sources: BTreeMap<String, String> = config
            .inputs
            .iter()
            .filter_map(|(id, input)| match &input.mapping {
                InputMapping::User(user) => Some((id.to_string(), user.source.to_string())),
                _ => None,
            })
            .collect();
        let journal = config.outputs.iter().any(|o| o.as_str() == "record").then(Journal::default);
        let name = dora.id().to_string();
        let (sender, incoming) = crossbeam_channel::unbounded();
        let forward = sender.clone();
        // Emptying dora's bounded queue at once is what keeps it from dropping.
        std::thread::Builder::new().name("inbox".to_owned()).spawn(move || {
            while let Some(event) = events.recv() {
                if forward.send(Raw::Dora(event)).is_err() {
                    return;
                }
            }
            let _ = forward.send(Raw::Ended);
        })?;
        Ok(Node {
            dora,
            name,
            incoming,
            sender,
            sources,
            queue: VecDeque::new(),
            gone: BTreeSet::new(),
            run: String::new(),
            episode: -1,
            seqs: BTreeMap::new(),
            journal,
            answers_ready: true,
            must_flush: false,
            ending: false,
        })
    }

    /// Leaves the answer to `run` to the caller, who sends `ready` when it is.
    pub fn answer_ready_myself(&mut self) {
        self.answers_ready = false;
    }

    /// Id of this node in the dataflow.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Id of the run; empty before the planner has told it.
    pub fn run_id(&self) -> &str {
        &self.run
    }

    /// Sets the run id; only the planner does.
    pub fn set_run_id(&mut self, run: &str) {
        run.clone_into(&mut self.run);
    }

    /// Current episode, -1 before the first.
    pub fn episode(&self) -> i64 {
        self.episode
    }

    /// Sets the current episode; others than the planner follow its events and
    /// what its `reset` and `card` are stamped with.
    pub fn set_episode(&mut self, episode: i64) {
        self.episode = episode;
    }

    /// From here on a node that goes is not missed; the planner says so before it ends.
    pub fn expect_end(&mut self) {
        self.ending = true;
    }

    /// Nodes that feed this one.
    pub fn peers(&self) -> BTreeSet<String> {
        self.sources.values().cloned().collect()
    }

    /// Nodes that feed inputs of one topic.
    pub fn peers_of(&self, topic: &str) -> BTreeSet<String> {
        self.sources
            .iter()
            .filter(|(input, _)| topic_of(input) == topic)
            .map(|(_, node)| node.clone())
            .collect()
    }

    /// Peers that have gone.
    pub fn gone(&self) -> &BTreeSet<String> {
        &self.gone
    }

    /// For the node's own threads.
    pub fn sender(&self) -> Sender<L> {
        Sender(self.sender.clone())
    }

    /// Sends a frame on the output named like its topic, and records it.
    pub fn send<F: Frame>(&mut self, frame: &F) -> Result<()> {
        let seq = self.send_live(frame)?;
        self.push(seq, frame.clone())
    }

    /// Sends a frame without recording it, for pictures and the like; returns its `seq`.
    pub fn send_live<F: Frame>(&mut self, frame: &F) -> Result<u64> {
        let seq = self.next_seq(F::TOPIC);
        let stamp = self.stamp(F::TOPIC, F::VERSION, self.episode, seq);
        self.output(F::TOPIC, stamp, encode(std::slice::from_ref(frame)))?;
        Ok(seq)
    }

    /// Sends a frame that another thread has encoded.
    pub(crate) fn send_array<F: Frame>(&mut self, array: ArrayRef) -> Result<()> {
        let seq = self.next_seq(F::TOPIC);
        let stamp = self.stamp(F::TOPIC, F::VERSION, self.episode, seq);
        self.output(F::TOPIC, stamp, array)
    }

    /// Records a frame without sending it live.
    pub fn record<F: Frame>(&mut self, frame: F) -> Result<()> {
        let seq = self.next_seq(F::TOPIC);
        self.push(seq, frame)
    }

    /// Sends an event, see [`ruaflow_schemas::event`] for the kinds.
    pub fn event(&mut self, kind: &str, message: &str, data: serde_json::Value) -> Result<()> {
        let frame = Event {
            kind: kind.to_owned(),
            node: self.name.clone(),
            message: message.to_owned(),
            data: data.to_string(),
        };
        self.send(&frame)
    }

    /// Warns of a frame that can't be read.
    pub fn frame_ignored(&mut self, frame: &Received, error: &SchemaError) -> Result<()> {
        let Received { topic, node, .. } = frame;
        let text = format!("frame of topic {topic:?} from node {node:?} ignored: {error}");
        self.event(event::WARNING, &text, serde_json::json!({}))
    }

    /// Sends what waits for the recorder; `next` does it in time by itself.
    pub fn flush(&mut self) -> Result<()> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        for batch in journal.drain(self.episode) {
            self.send_batch(batch)?;
        }
        Ok(())
    }

    /// Number of batches sent to the recorder so far.
    pub fn batches(&self) -> u64 {
        self.journal.as_ref().map_or(0, Journal::batches)
    }

    /// The next thing to handle; waits until `deadline` at most.
    pub fn next(&mut self, deadline: Option<Instant>) -> Input<L> {
        loop {
            if let Err(error) = self.housekeeping() {
                tracing::error!("{error:#}");
                return Input::Stop;
            }
            if let Some(input) = self.queue.pop_front() {
                match &input {
                    // The node handles the end first and may still record; its next call flushes.
                    Input::Event { event, .. } => self.must_flush = event.kind == event::ENDED,
                    // After these a node may leave at once.
                    Input::Shutdown | Input::Stop | Input::Gone { .. } => {
                        if let Err(error) = self.flush() {
                            tracing::warn!("could not send the last rows: {error:#}");
                        }
                    }
                    _ => {}
                }
                return input;
            }
            let flush_due = self.journal.as_ref().and_then(Journal::due);
            let raw = match deadline.into_iter().chain(flush_due).min() {
                None => self.incoming.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => {
                    self.incoming.recv_timeout(until.saturating_duration_since(Instant::now()))
                }
            };
            match raw {
                Ok(Raw::Local(message)) => return Input::Local(message),
                Ok(Raw::Dora(event)) => self.take(event),
                Ok(Raw::Ended) | Err(RecvTimeoutError::Disconnected) => return Input::Stop,
                Err(RecvTimeoutError::Timeout) => {
                    if deadline.is_some_and(|d| d <= Instant::now()) {
                        return Input::Timeout;
                    }
                }
            }
        }
    }

    /// Waits for whatever comes, at most this long.
    pub fn next_within(&mut self, wait: Duration) -> Input<L> {
        self.next(Some(Instant::now() + wait))
    }

    fn housekeeping(&mut self) -> Result<()> {
        if std::mem::take(&mut self.must_flush) {
            self.flush()?;
            let batches = self.batches();
            // `flushed` is itself a recorded event; its row goes out with a later batch.
            self.event(
                event::FLUSHED,
                "",
                serde_json::json!({ "episode": self.episode, "batches": batches }),
            )?;
        }
        if self.journal.as_ref().and_then(Journal::due).is_some_and(|due| due <= Instant::now()) {
            self.flush()?;
        }
        Ok(())
    }

    fn take(&mut self, event: DoraEvent) {
        match event {
            DoraEvent::Input { id, metadata, data } => self.take_frame(id.as_str(), metadata, data),
            DoraEvent::InputClosed { id } => {
                if let Some(node) = self.sources.get(id.as_str()).cloned() {
                    self.take_gone(node);
                }
            }
            DoraEvent::NodeFailed { source_node_id, .. } => {
                self.take_gone(source_node_id.to_string())
            }
            DoraEvent::Stop(dora_node_api::StopCause::Manual) => self.queue.push_back(Input::Stop),
            DoraEvent::Error(message) => tracing::warn!(message, "dora reports an error"),
            _ => {}
        }
    }

    fn take_gone(&mut self, node: String) {
        if self.gone.insert(node.clone()) {
            self.queue.push_back(Input::Gone { node });
        }
    }

    fn take_frame(&mut self, input: &str, metadata: Metadata, data: DoraArray) {
        let node = self.sources.get(input).cloned().unwrap_or_default();
        let stamp = match read_stamp(&metadata.parameters) {
            Ok(stamp) => stamp,
            Err(error) => {
                tracing::warn!(input, node, %error, "frame ignored");
                return;
            }
        };
        let frame = Received {
            topic: topic_of(input).to_owned(),
            node,
            stamp,
            parameters: metadata.parameters,
            array: data.into_inner(),
        };
        match frame.topic.as_str() {
            "event" => match frame.row::<Event>() {
                Ok(event) => self.take_event(frame.node, event),
                Err(error) => tracing::warn!(node = frame.node, %error, "event ignored"),
            },
            "receipt" => match frame.row::<Receipt>() {
                Ok(receipt) if receipt.node == self.name => self.take_receipt(&receipt),
                Ok(_) => {}
                Err(error) => tracing::warn!(node = frame.node, %error, "receipt ignored"),
            },
            _ => self.queue.push_back(Input::Frame(frame)),
        }
    }

    fn take_event(&mut self, node: String, event: Event) {
        let data: serde_json::Value = serde_json::from_str(&event.data).unwrap_or_default();
        match event.kind.as_str() {
            event::RUN => {
                if let Some(run) = data["run"].as_str() {
                    run.clone_into(&mut self.run);
                }
                if self.answers_ready
                    && let Err(error) = self.event(event::READY, "", serde_json::json!({}))
                {
                    tracing::warn!("could not answer: {error:#}");
                }
            }
            event::STARTED => self.episode = data["episode"].as_i64().unwrap_or(self.episode),
            event::SHUTDOWN => {
                self.ending = true;
                self.queue.push_back(Input::Shutdown);
                return;
            }
            _ => {}
        }
        self.queue.push_back(Input::Event { node, event });
    }

    fn take_receipt(&mut self, receipt: &Receipt) {
        let Some(journal) = &mut self.journal else { return };
        for batch in journal.receipt(receipt.through, &receipt.missing) {
            if let Err(error) = self.send_batch(batch) {
                tracing::warn!("could not send a batch again: {error:#}");
            }
        }
    }

    fn push<F: Frame>(&mut self, seq: u64, frame: F) -> Result<()> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        match journal.push(self.episode, seq, frame) {
            Some(batch) => self.send_batch(batch),
            None => Ok(()),
        }
    }

    fn send_batch(&mut self, batch: Batch) -> Result<()> {
        let mut parameters = self.stamp(batch.topic, batch.version, batch.episode, batch.number);
        parameters.insert("batch".to_owned(), Parameter::Integer(batch.number as i64));
        self.output("record", parameters, batch.rows)
    }

    fn output(
        &mut self,
        output: &str,
        parameters: MetadataParameters,
        array: ArrayRef,
    ) -> Result<()> {
        self.dora
            .send_output(DataId::from(output.to_owned()), parameters, DoraArray::from(array))
            .map_err(|e| eyre!("{e}"))
            .with_context(|| format!("could not send {output:?}"))
    }

    fn next_seq(&mut self, topic: &'static str) -> u64 {
        let seq = self.seqs.entry(topic).or_default();
        *seq += 1;
        *seq - 1
    }

    fn stamp(&self, topic: &str, version: u32, episode: i64, seq: u64) -> MetadataParameters {
        MetadataParameters::from([
            (Stamp::RUN.to_owned(), Parameter::String(self.run.clone())),
            (Stamp::EPISODE.to_owned(), Parameter::Integer(episode)),
            (Stamp::SEQ.to_owned(), Parameter::Integer(seq as i64)),
            (Stamp::SCHEMA.to_owned(), Parameter::String(topic.to_owned())),
            (Stamp::SCHEMA_VERSION.to_owned(), Parameter::Integer(version.into())),
        ])
    }
}

/// An input is named after its topic; `event-libero` is a second input of topic `event`.
fn topic_of(input: &str) -> &str {
    input.split_once('-').map_or(input, |(topic, _)| topic)
}

fn read_stamp(parameters: &MetadataParameters) -> Result<Stamp, SchemaError> {
    let text = |key: &'static str| match parameters.get(key) {
        Some(Parameter::String(value)) => Ok(value.clone()),
        _ => Err(SchemaError::Stamp { key }),
    };
    let number = |key: &'static str| match parameters.get(key) {
        Some(Parameter::Integer(value)) => Ok(*value),
        _ => Err(SchemaError::Stamp { key }),
    };
    Ok(Stamp {
        run: text(Stamp::RUN)?,
        episode: number(Stamp::EPISODE)?,
        seq: number(Stamp::SEQ)?.max(0) as u64,
        schema: text(Stamp::SCHEMA)?,
        schema_version: u32::try_from(number(Stamp::SCHEMA_VERSION)?)
            .map_err(|_| SchemaError::Stamp { key: Stamp::SCHEMA_VERSION })?,
    })
}
