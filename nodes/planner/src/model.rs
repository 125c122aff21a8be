//! The backends that ask a model themselves: `openai` and `anthropic`.

mod history;
#[cfg(test)]
mod tests;

use std::time::Duration;

use ruaflow_llm::{
    Answer, Client, Endpoint, Error, ErrorKind, Part, Prices, Reply, Request, Stop, Tool, ToolCall,
    ToolMode, Watch,
};
use ruaflow_prompt::Arm;

use self::history::History;
use crate::backend::{Backend, Ending, Why};
use crate::control::Control;
use crate::episode::Episode;
use crate::hands::{Hands, program_cell, program_in};
use crate::scribe::Scribe;

/// Asks one model what to do, turn after turn.
pub struct Model {
    endpoint: Endpoint,
    prices: Prices,
}

impl Model {
    #[must_use]
    pub fn new(endpoint: Endpoint, prices: Prices) -> Self {
        Model { endpoint, prices }
    }
}

impl Backend for Model {
    fn play(&mut self, episode: &mut Episode) -> Result<Ending, String> {
        let opening = match episode.opening() {
            Ok(opening) => opening,
            Err(over) => return Ok(over.into()),
        };
        let hands = Hands::new(episode);
        let mut talk = Talk {
            client: Client::new(self.endpoint.clone()),
            tools: hands.tools().iter().map(llm_tool).collect(),
            system: episode.system(),
            history: History::new(opening),
            scribe: Scribe::new(&self.endpoint.model, self.prices.clone()),
            notes: Vec::new(),
            last_words: false,
            hands,
            episode,
        };
        match talk.episode.arm() {
            Arm::SingleShot => talk.one_program(),
            Arm::Cells | Arm::Program | Arm::Tools => talk.turns(),
        }
    }
}

/// The conversation of one episode.
struct Talk<'a> {
    client: Client,
    episode: &'a mut Episode,
    hands: Hands,
    system: String,
    tools: Vec<Tool>,
    history: History,
    scribe: Scribe,
    /// What was done to the conversation since the last turn.
    notes: Vec<String>,
    /// A budget is used up, and `finish` all that is left.
    last_words: bool,
}

/// Why there is no reply to go on with.
enum NoReply {
    /// The backend ends with this.
    Ended(Ending),
    /// The run fails with this text.
    Failed(String),
}

impl Talk<'_> {
    /// Turn after turn until the agent or the episode ends.
    fn turns(&mut self) -> Result<Ending, String> {
        let mut nudged = false;
        loop {
            if let Err(over) = self.episode.attend()
                && !matches!(over.why, Why::Budget(_))
            {
                return Ok(over.into());
            }
            let said = self.episode.said();
            self.history.say(said);
            if let Some(limit) = self.episode.used_up() {
                if self.last_words {
                    return Ok(Ending::Over);
                }
                self.last_words = true;
                self.history.say([format!("[{}]", Why::Budget(limit).words())]);
            }
            let reply = match self.ask() {
                Ok(reply) => reply,
                Err(NoReply::Ended(ending)) => return Ok(ending),
                Err(NoReply::Failed(text)) => return Err(text),
            };
            let calls: Vec<ToolCall> = reply.calls().cloned().collect();
            if calls.is_empty() {
                if reply.stop == Stop::Refused {
                    return Ok(gave_up("the model refused", &reply));
                }
                if nudged || self.last_words {
                    return Ok(gave_up("the model called no tool, twice", &reply));
                }
                nudged = true;
                self.history.say([nudge(&reply).to_owned()]);
                continue;
            }
            nudged = false;
            if let Some(ending) = self.act(&calls) {
                return Ok(ending);
            }
        }
    }

    /// Executes the calls of one reply in order; those after one that failed are not run.
    fn act(&mut self, calls: &[ToolCall]) -> Option<Ending> {
        let mut answers = Vec::new();
        let mut refusal = None;
        let mut ending = None;
        for ToolCall { id, name, arguments } in calls {
            let outcome = match refusal {
                None => self.hands.call(self.episode, id, name, arguments),
                Some(why) => self.hands.refuse(self.episode, id, name, arguments, why),
            };
            if outcome.failed {
                refusal = refusal.or(Some("not run: a call before it in the same reply failed"));
            }
            if outcome.ending.is_some() {
                refusal = Some("not run: the episode is over");
                ending = outcome.ending;
            }
            let images = outcome.images.into_iter().map(Part::Image);
            let parts = std::iter::once(Part::Text(outcome.text)).chain(images).collect();
            answers.push(Part::Answer(Answer { id: id.clone(), parts, failed: outcome.failed }));
        }
        self.history.add(answers);
        ending
    }

    /// The arm `single-shot`: the program in the one reply is run once.
    fn one_program(&mut self) -> Result<Ending, String> {
        let reply = match self.ask() {
            Ok(reply) => reply,
            Err(NoReply::Ended(ending)) => return Ok(ending),
            Err(NoReply::Failed(text)) => return Err(text),
        };
        let Some(code) = program_in(&reply.text()).filter(|_| reply.stop == Stop::Done) else {
            return Ok(gave_up("the reply holds no whole program", &reply));
        };
        let cell = match program_cell(&code) {
            Ok(cell) => cell,
            Err(why) => return Ok(Ending::GaveUp { why }),
        };
        Ok(match self.episode.run_fresh(&cell, "program") {
            Ok(result) if result.status == "ok" => Ending::Played,
            Ok(_) => Ending::CellFailed,
            Err(over) => over.into(),
        })
    }

    /// One reply, booked; a conversation that is too long is made to fit.
    fn ask(&mut self) -> Result<Reply, NoReply> {
        loop {
            let mut look = Look { control: self.episode.control(), excused: Duration::ZERO };
            // Where a grammar rules, a small model is left no other word. Elsewhere the tools
            // stay as they were, for the provider's cache.
            let ruled = self.client.endpoint().tool_mode == ToolMode::JsonSchema;
            let skipped =
                if ruled && self.last_words { self.tools.len().saturating_sub(1) } else { 0 };
            let request = Request {
                system: &self.system,
                messages: self.history.messages(),
                tools: &self.tools[skipped..],
                cache: true,
            };
            match self.client.complete(&request, &mut look) {
                Ok(reply) => {
                    self.episode.excuse(reply.timing.waited.saturating_sub(look.excused));
                    let notes = std::mem::take(&mut self.notes);
                    self.scribe.turn(self.episode, &request, &reply, notes);
                    if reply.stop == Stop::ContextOverflow && reply.calls().next().is_none() {
                        self.shorten("the model had no room left to answer in")?;
                        continue;
                    }
                    self.history.reply(&reply.parts);
                    return Ok(reply);
                }
                Err(error) => self.mend(&error)?,
            }
        }
    }

    /// Makes the next try possible, or says why there is none.
    fn mend(&mut self, error: &Error) -> Result<(), NoReply> {
        match error.kind {
            ErrorKind::Stopped => Err(NoReply::Ended(Ending::Over)),
            ErrorKind::ContextOverflow => self.shorten(&error.text),
            _ => {
                self.episode.note(&format!("the model gave no reply: {}", error.text));
                Err(NoReply::Failed(error.text.clone()))
            }
        }
    }

    fn shorten(&mut self, why: &str) -> Result<(), NoReply> {
        match self.history.shorten() {
            Some(done) => {
                self.notes.push(format!("{done}: {why}"));
                Ok(())
            }
            None => Err(NoReply::Failed(format!(
                "the conversation does not fit the model {:?} even when it is shortened: {why}",
                self.client.endpoint().model
            ))),
        }
    }
}

/// A tool as it is told to a model.
pub(crate) fn llm_tool(tool: &ruaflow_prompt::Tool) -> Tool {
    Tool {
        name: tool.name.clone(),
        description: tool.description.clone(),
        schema: tool.schema.clone(),
    }
}

fn gave_up(what: &str, reply: &Reply) -> Ending {
    let text = reply.text();
    let said: String = text.trim().chars().take(300).collect();
    let why = if said.is_empty() { what.to_owned() } else { format!("{what}; it said: {said}") };
    Ending::GaveUp { why }
}

/// What a model that called nothing is told, once.
fn nudge(reply: &Reply) -> &'static str {
    match reply.stop {
        Stop::Length => {
            "Your reply was cut at the limit of output tokens and nothing was run. Call a tool \
             with less."
        }
        _ => "Nothing was run. Call a tool to go on, or `finish` to end.",
    }
}

/// Stops a request when the episode is over, and lets waits for the provider pass.
struct Look {
    control: Control,
    excused: Duration,
}

impl Watch for Look {
    fn retry(&mut self, _why: &str, pause: Duration) {
        self.control.add_waited(pause);
        self.excused += pause;
    }

    fn stopped(&mut self) -> bool {
        self.control.stopped()
    }
}
