//! A session on a stage: the test plays the other nodes and moves the clock.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};

use ruaflow_prompt::Budgets;
use ruaflow_record::Policy;
use ruaflow_schemas::{LedgerEntry, Observation};
use serde_json::json;

use crate::asked::Scenes;
use crate::episode::Setting;
use crate::mind::Mind;
use crate::planners::Planner;
use crate::script::Script;
use crate::session::*;

/// The other nodes, played by the test, and a clock that it moves.
pub(super) struct Stage {
    pub(super) session: Session,
    mind: Option<Mind>,
    /// What the backend says. It speaks once after it has been met or answered.
    words: Option<Receiver<Word>>,
    /// A backend that thinks and thinks.
    mute: bool,
    folder: tempfile::TempDir,
    pub(super) now: Instant,
    /// What the session has sent and told so far.
    out: Vec<Out>,
    pub(super) steps: u64,
}

pub(super) fn asked(script: &str, episodes: u32) -> Asked {
    let script = Script::parse("p.py", script).unwrap();
    Asked {
        run: "r".into(),
        out: PathBuf::from("r"),
        robot: "libero".into(),
        scenes: Scenes::counting("libero_spatial", 2, 10, episodes),
        settle: 15,
        from: None,
        max_steps: 300,
        cell_timeout: Duration::from_secs(60),
        pictures: "off".into(),
        record: ruaflow_record::Level::default(),
        rules: Arc::new(Rules {
            budgets: Budgets { time: Some(Duration::from_secs(100)), ..Budgets::default() },
            ..Rules::default()
        }),
        others: std::collections::BTreeMap::new(),
        planner: Planner::Script { script, policy: Policy::default() },
    }
}

impl Stage {
    pub(super) fn new(asked: Asked) -> Self {
        let nodes = ["libero", "cell-runner", "controller", "recorder"];
        let peers = Peers {
            robot: "libero".into(),
            cell_runner: "cell-runner".into(),
            recorder: "recorder".into(),
            answering: nodes.map(str::to_owned).into(),
        };
        let now = Instant::now();
        let session = Session::new(asked, peers, "2026-01-01T00:00:00Z".into(), now, now);
        let mut stage = Stage {
            session,
            mind: None,
            words: None,
            mute: false,
            folder: tempfile::tempdir().unwrap(),
            now,
            out: Vec::new(),
            steps: 0,
        };
        stage.settle();
        stage
    }

    /// A stage on which the first episode's scene stands.
    pub(super) fn in_episode(script: &str) -> Self {
        let mut stage = Self::new(asked(script, 1));
        stage.all_ready();
        stage.card();
        stage
    }

    /// The same with a backend that has not decided on a cell.
    pub(super) fn thinking() -> Self {
        let mut stage = Self::new(asked("1\n", 1));
        stage.mute = true;
        stage.all_ready();
        stage.card();
        stage
    }

    pub(super) fn say(&mut self, saying: Saying) {
        let episode = self.session.episode();
        self.session.word(self.now, Word { episode, saying });
        self.settle();
    }

    pub(super) fn settle(&mut self) {
        loop {
            self.session.tick(self.now);
            let out = self.session.take_out();
            if out.is_empty() {
                return;
            }
            for out in out {
                match &out {
                    Out::Meet { episode, card } if !self.mute => self.meet(*episode, card),
                    Out::Answer(answer) => self.answer(answer),
                    _ => {}
                }
                self.out.push(out);
            }
        }
    }

    fn meet(&mut self, number: u32, card: &Card) {
        let setting = Setting {
            number,
            dir: self.folder.path().join("episodes/000"),
            card: card.clone(),
            rules: self.session.rules(),
            control: self.session.control(),
        };
        let (say, words) = channel();
        let backend = self.session.backend();
        self.mind =
            Some(Mind::start(backend, setting, move |word| say.send(word).is_ok()).unwrap());
        self.words = Some(words);
        self.hear();
    }

    fn answer(&mut self, answer: &Answer) {
        if let Some(mind) = &self.mind {
            mind.answer(answer.clone());
            self.hear();
        }
    }

    /// Hands the backend's next word on; none comes from one that has ended.
    fn hear(&mut self) {
        if let Some(Ok(word)) = self.words.as_ref().map(Receiver::recv) {
            self.session.word(self.now, word);
        }
    }

    pub(super) fn wait(&mut self, seconds: f64) {
        self.now += Duration::from_secs_f64(seconds);
        self.settle();
    }

    pub(super) fn event(&mut self, node: &str, kind: &str, data: Value) {
        let event = Event {
            kind: kind.into(),
            node: node.into(),
            message: "why".into(),
            data: data.to_string(),
        };
        self.session.event(self.now, node, &event);
        self.settle();
    }

    pub(super) fn all_ready(&mut self) {
        for node in ["libero", "cell-runner", "controller", "recorder"] {
            self.event(node, event::READY, json!({}));
        }
    }

    pub(super) fn gone(&mut self, node: &str) {
        self.session.gone(self.now, node);
        self.settle();
    }

    pub(super) fn all_leave(&mut self) {
        for node in ["libero", "cell-runner", "controller", "recorder"] {
            self.gone(node);
        }
    }

    /// The robot answers the reset that was sent last.
    pub(super) fn card(&mut self) {
        let id =
            self.sent(|o| if let Out::Reset(reset) = o { Some(reset.id.clone()) } else { None });
        let card = Card {
            id,
            robot: "libero".into(),
            instruction: "lift".into(),
            judged: true,
            ..Card::default()
        };
        self.session.card(self.now, card);
        self.settle();
    }

    /// The running cell moves the robot; the robot says whether that solved the task.
    pub(super) fn call(&mut self, control_step: u64, success: bool) {
        self.steps += 1;
        let observation =
            Observation { control_step, success, terminated: success, ..Observation::default() };
        let result = CallResult { step: self.steps, observation, ..CallResult::default() };
        self.session.call_result(self.now, &result);
        self.settle();
    }

    /// The running cell ends, having made `calls` calls that moved the robot.
    pub(super) fn cell(&mut self, status: &str, calls: u64) {
        let id = self.sent(|o| if let Out::Cell(cell) = o { Some(cell.id.clone()) } else { None });
        let entry = |n| LedgerEntry { stateful: true, ok: true, step: n, ..LedgerEntry::default() };
        let ledger = (self.steps.saturating_sub(calls) + 1..=self.steps).map(entry).collect();
        let error =
            if status == "ok" { String::new() } else { "Traceback\nValueError: no\n".to_owned() };
        let result =
            CellResult { id, status: status.into(), ledger, error, ..CellResult::default() };
        self.session.cell_result(self.now, result);
        self.settle();
    }

    pub(super) fn recorded(&mut self, episode: u32) {
        self.event("recorder", event::RECORDED, json!({ "episode": episode, "complete": true }));
    }

    /// The last thing sent that fits.
    pub(super) fn sent<T>(&self, pick: impl Fn(&Out) -> Option<T>) -> T {
        self.out.iter().rev().find_map(pick).expect("nothing like it was sent")
    }

    pub(super) fn count(&self, fits: impl Fn(&Out) -> bool) -> usize {
        self.out.iter().filter(|o| fits(o)).count()
    }

    pub(super) fn ended(&self) -> Option<Reason> {
        self.out
            .iter()
            .rev()
            .find_map(|o| if let Out::Ended { reason, .. } = o { Some(*reason) } else { None })
    }

    pub(super) fn said_goodbye(&self) -> bool {
        self.out.contains(&Out::Shutdown)
    }

    pub(super) fn result(&self) -> &RunResult {
        self.session.result()
    }
}
