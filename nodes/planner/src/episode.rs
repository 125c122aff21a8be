//! The one handle a backend has to the world.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ruaflow_llm::Part;
use ruaflow_prompt::{Arm, Limit, Rules};
use ruaflow_record::{
    Bill, CallRecord, Happening, PartRecord, RecordError, TurnLine, TurnRecord, TurnWriter,
};
use ruaflow_robots::{Images, RobotApi};
use ruaflow_schemas::{Card, CellResult};

use crate::backend::{Over, Why};
use crate::control::{Clock, Control, Wish};
use crate::hands::{picture_file, pictures};

/// Characters of a reply that are told to those who watch.
const MAX_TOLD: usize = 2_000;

/// An episode as a backend sees it.
pub struct Episode {
    number: u32,
    dir: PathBuf,
    card: Card,
    api: &'static RobotApi,
    rules: Arc<Rules>,
    clock: Clock,
    world: Box<dyn World>,
    log: Option<TurnWriter>,
    bill: Bill,
    turn: u32,
    call: u32,
    /// Control steps used.
    steps: u64,
    spent: Option<Limit>,
    over: Option<Why>,
    /// Numbers of the calls, by the ids that a model gave them.
    calls: BTreeMap<String, u32>,
    /// Files of the pictures that were made, by their hash.
    pictures: BTreeMap<String, String>,
    /// What a person did that the agent does not know yet.
    heard: Vec<String>,
}

/// What an episode's cells run in.
pub trait World: Send {
    /// Runs a cell to its end; a `fresh` one starts with an empty namespace.
    ///
    /// # Errors
    /// The episode is over.
    fn run(&mut self, code: &str, title: &str, fresh: bool) -> Result<CellResult, Over>;

    /// Tells the run what was spent and those who watch what happened.
    fn tell(&mut self, bill: &Bill, what: Option<Happening>);

    /// Ends the running cell early when it is called, from whatever thread.
    fn interrupter(&self) -> Interrupter;
}

/// Ends the running cell within a second, with status `cancelled`; nothing happens when none runs.
pub type Interrupter = Arc<dyn Fn() + Send + Sync>;

/// Where an episode is and what holds in it.
pub struct Setting {
    pub number: u32,
    /// The episode's folder in the run.
    pub dir: PathBuf,
    pub card: Card,
    pub rules: Arc<Rules>,
    pub control: Control,
}

/// What is left of the budgets; `None` is without limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Left {
    pub time: Option<Duration>,
    pub steps: Option<u64>,
    pub turns: Option<u32>,
    pub calls: Option<u32>,
    pub tokens: Option<u64>,
    pub dollars: Option<f64>,
}

impl Left {
    /// The budget that is used up, if one is.
    #[must_use]
    pub fn used_up(&self) -> Option<Limit> {
        let of_the_model = [
            (Limit::Calls, self.calls == Some(0)),
            (Limit::Tokens, self.tokens == Some(0)),
            (Limit::Money, self.dollars.is_some_and(|dollars| dollars <= 0.0)),
        ];
        self.holds().or_else(|| first(of_the_model))
    }

    /// The budget because of which the robot holds. What a reply asks for that has been
    /// paid is done, whatever it cost.
    #[must_use]
    pub fn holds(&self) -> Option<Limit> {
        first([
            (Limit::Time, self.time == Some(Duration::ZERO)),
            (Limit::Steps, self.steps == Some(0)),
            (Limit::Turns, self.turns == Some(0)),
        ])
    }
}

fn first(limits: [(Limit, bool); 3]) -> Option<Limit> {
    limits.into_iter().find_map(|(limit, used)| used.then_some(limit))
}

impl Episode {
    /// An episode that begins now.
    ///
    /// # Errors
    /// When the episode's folder can't be written, or nobody knows its robot.
    pub fn new(setting: Setting, world: Box<dyn World>) -> Result<Self, String> {
        let Setting { number, dir, card, rules, control } = setting;
        let api = ruaflow_robots::find(&card.robot).map_err(|error| error.to_string())?;
        let clock = Clock { began: Instant::now(), budget: rules.budgets.time, control };
        Ok(Episode {
            number,
            dir,
            card,
            api,
            rules,
            clock,
            world,
            log: None,
            bill: Bill::default(),
            turn: 0,
            call: 0,
            steps: 0,
            spent: None,
            over: None,
            calls: BTreeMap::new(),
            pictures: BTreeMap::new(),
            heard: Vec::new(),
        })
    }

    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The episode's folder in the run, for files of the backend's own.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    #[must_use]
    pub fn card(&self) -> &Card {
        &self.card
    }

    #[must_use]
    pub fn api(&self) -> &'static RobotApi {
        self.api
    }

    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    #[must_use]
    pub fn arm(&self) -> Arm {
        self.rules.arm
    }

    /// What an agent is told before its task.
    #[must_use]
    pub fn system(&self) -> String {
        ruaflow_prompt::system(self.api, &self.rules)
    }

    /// The first message to an agent: its task, and the first pictures when it is to
    /// see pictures without asking.
    ///
    /// # Errors
    /// When the episode is over already.
    pub fn opening(&mut self) -> Result<Vec<Part>, Over> {
        let mut parts = vec![Part::Text(ruaflow_prompt::card(&self.card, &self.rules))];
        if self.rules.images == Images::OnMotion {
            let shows: Vec<String> =
                self.card.cameras.iter().map(|c| format!("robo.show({:?})\n", c.name)).collect();
            let first = self.run_now(&shows.concat(), "first pictures", false)?;
            parts.extend(pictures(&first).into_iter().map(Part::Image));
        }
        Ok(parts)
    }

    /// Runs a cell to its end, once a person's pause is over and their own cells ran.
    ///
    /// # Errors
    /// The episode is over.
    pub fn run(&mut self, code: &str, title: &str) -> Result<CellResult, Over> {
        self.run_if_allowed(code, title, false)
    }

    /// As [`run`](Self::run), with an empty namespace: a program.
    ///
    /// # Errors
    /// The episode is over.
    pub fn run_fresh(&mut self, code: &str, title: &str) -> Result<CellResult, Over> {
        self.run_if_allowed(code, title, true)
    }

    fn run_if_allowed(&mut self, code: &str, title: &str, fresh: bool) -> Result<CellResult, Over> {
        self.attend()?;
        let over = self.over.or_else(|| self.clock.control.over());
        let holds = self.spent.or_else(|| self.left().holds());
        if let Some(why) = over.or(holds.map(Why::Budget)) {
            if let Some(limit) = holds {
                self.note_spent(limit);
            }
            return Err(Over::because(why));
        }
        if self.clock.control.takes_skip() {
            return Ok(CellResult {
                status: "cancelled".to_owned(),
                feedback: "a person skipped this cell: it was not run\n".to_owned(),
                ..CellResult::default()
            });
        }
        self.run_now(code, title, fresh)
    }

    /// Lets a person have their turn: waits while the run is paused, runs their cells
    /// and keeps what they say for [`said`](Self::said).
    ///
    /// # Errors
    /// The episode is over.
    pub fn attend(&mut self) -> Result<(), Over> {
        loop {
            self.clock.control.wait_while_paused();
            match self.clock.control.next_wish() {
                Some(Wish::Say(text)) => self.hear(format!("A person says: {text}")),
                Some(Wish::Cell(code)) => {
                    let result = self.run_now(&code, "a person's cell", false)?;
                    let feedback = ruaflow_record::cell_text(&result);
                    self.hear(format!("A person ran a cell:\n{code}\nIts result:\n{feedback}"));
                }
                None if self.clock.control.is_paused() => {}
                None => return Ok(()),
            }
        }
    }

    /// What a person said and did since the last call.
    pub fn said(&mut self) -> Vec<String> {
        std::mem::take(&mut self.heard)
    }

    /// Ends the running cell early when it is called, from whatever thread.
    #[must_use]
    pub fn interrupter(&self) -> Interrupter {
        self.world.interrupter()
    }

    /// Whether the backend is to end at once; long waits poll it. A budget that is
    /// used up leaves time to say `finish`.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.clock.control.stopped()
    }

    /// What those steer it by who are on other threads.
    #[must_use]
    pub fn control(&self) -> Control {
        self.clock.control.clone()
    }

    /// Waiting for a provider: this time is not the agent's.
    pub fn excuse(&self, time: Duration) {
        self.clock.control.add_waited(time);
    }

    /// What is left of the budgets.
    #[must_use]
    pub fn left(&self) -> Left {
        let budgets = &self.rules.budgets;
        let max_steps = Some(u64::from(self.card.max_control_steps)).filter(|steps| *steps > 0);
        let spent = self.bill.dollars.unwrap_or(0.0);
        let count = |used: u64| u32::try_from(used).unwrap_or(u32::MAX);
        Left {
            time: self.clock.left(Instant::now()),
            steps: max_steps.map(|max| max.saturating_sub(self.steps)),
            turns: budgets.turns.map(|max| max.saturating_sub(count(self.bill.tool_calls))),
            calls: budgets.calls.map(|max| max.saturating_sub(count(self.bill.model_calls))),
            tokens: budgets.tokens.map(|max| max.saturating_sub(self.bill.tokens.total())),
            dollars: budgets.dollars.map(|max| max - spent),
        }
    }

    /// The first budget that was used up.
    pub fn used_up(&mut self) -> Option<Limit> {
        let limit = self.spent.or_else(|| self.left().used_up())?;
        self.note_spent(limit);
        Some(limit)
    }

    /// What was spent so far.
    #[must_use]
    pub fn bill(&self) -> &Bill {
        &self.bill
    }

    /// Books a request to a model and writes it down; its number comes back.
    pub fn book(&mut self, mut turn: TurnRecord) -> u32 {
        self.turn += 1;
        (turn.turn, turn.at) = (self.turn, now());
        self.bill.add_turn(&turn);
        let told = Happening::Turn {
            episode: self.number,
            turn: turn.turn,
            text: said_in(&turn).chars().take(MAX_TOLD).collect(),
            input: turn.tokens.input,
            output: turn.tokens.output,
            dollars: turn.dollars,
            seconds: turn.total_s,
        };
        self.write(&TurnLine::Turn(Box::new(turn)));
        self.world.tell(&self.bill, Some(told));
        self.turn
    }

    /// Books a tool call and writes it down; its number comes back.
    pub(crate) fn book_call(&mut self, mut call: CallRecord, acts: bool) -> u32 {
        self.call += 1;
        (call.call, call.at) = (self.call, now());
        self.bill.tool_calls += u64::from(acts);
        if !call.id.is_empty() {
            self.calls.insert(call.id.clone(), self.call);
        }
        self.write(&TurnLine::Call(Box::new(call)));
        self.world.tell(&self.bill, None);
        self.call
    }

    /// Writes down what happened between turns.
    pub fn note(&mut self, text: &str) {
        self.write(&TurnLine::Note { at: now(), text: text.to_owned() });
    }

    /// Keeps a prompt or a list of tools by its hash; the name of its file comes back.
    pub fn keep(&mut self, text: &str, extension: &str) -> Option<String> {
        let kept = self.log().and_then(|log| log.keep(text, extension));
        self.taken(kept)
    }

    /// Number of the call that has this id.
    pub(crate) fn call_number(&self, id: &str) -> Option<u32> {
        self.calls.get(id).copied()
    }

    /// Where a picture is kept that a cell made.
    pub(crate) fn picture_file(&self, png: &[u8]) -> Option<&str> {
        self.pictures.get(&ruaflow_record::hash(png)).map(String::as_str)
    }

    /// Tells those who watch.
    pub(crate) fn tell(&mut self, what: Happening) {
        self.world.tell(&self.bill, Some(what));
    }

    pub(crate) fn spent(&self) -> Option<Limit> {
        self.spent
    }

    fn run_now(&mut self, code: &str, title: &str, fresh: bool) -> Result<CellResult, Over> {
        let began = Instant::now();
        self.clock.control.set_running(true);
        let result = self.world.run(code, title, fresh);
        self.clock.control.set_running(false);
        self.bill.robot_s += began.elapsed().as_secs_f64();
        let cell = match &result {
            Ok(cell) => Some(cell),
            Err(over) => {
                self.over = Some(over.why);
                over.last.as_deref()
            }
        };
        self.steps += cell.map_or(0, |cell| cell.control_steps);
        for (number, picture) in cell.into_iter().flat_map(|cell| cell.images.iter().enumerate()) {
            let index = cell.map_or(0, |cell| cell.index);
            let file = picture_file(index, number, &picture.name);
            // The first of several that are the same stands for all.
            self.pictures.entry(ruaflow_record::hash(&picture.png.0)).or_insert(file);
        }
        if let Err(Over { why: Why::Budget(limit), .. }) = &result {
            self.note_spent(*limit);
        }
        result
    }

    /// The first budget that is used up is the one that ends the episode.
    fn note_spent(&mut self, limit: Limit) {
        if self.spent.is_none() {
            self.spent = Some(limit);
            // A script has no turns to note it between.
            if self.log.is_some() {
                self.note(&format!("the budget of {limit} is used up"));
            }
        }
    }

    fn hear(&mut self, text: String) {
        self.note(&text);
        self.heard.push(text);
    }

    fn write(&mut self, line: &TurnLine) {
        let written = self.log().and_then(|log| log.write(line));
        self.taken(written);
    }

    /// Opened with the first line: a script has none.
    fn log(&mut self) -> Result<&mut TurnWriter, RecordError> {
        if self.log.is_none() {
            let run = self.dir.ancestors().nth(2).unwrap_or(&self.dir);
            self.log = Some(TurnWriter::open(&self.dir, &run.join(PROMPTS))?);
        }
        // It has just been put there.
        self.log.as_mut().ok_or_else(|| RecordError::NotARun(self.dir.clone()))
    }

    /// A disk that is full ends the run by the recorder's word, which needs no second one.
    fn taken<T>(&self, written: Result<T, RecordError>) -> Option<T> {
        written.inspect_err(|error| tracing::error!("{error}")).ok()
    }
}

const PROMPTS: &str = "prompts";

/// What a model said and called, for those who watch.
fn said_in(turn: &TurnRecord) -> String {
    let words = turn.reply.iter().filter_map(|part| match part {
        PartRecord::Text { text } => Some(text.trim().to_owned()),
        PartRecord::Call { name, .. } => Some(format!("→ {name}")),
        _ => None,
    });
    words.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_secs_f64() * 1e3).round() / 1e3
}
