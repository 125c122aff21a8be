//! Writes a request to a model and its reply down, without saying twice what the
//! record has already.

use ruaflow_llm::{Message, Part, Prices, Reply, Request, Role, Tool};
use ruaflow_record::{MessageRecord, PartRecord, Tokens, TurnRecord, tools_text};
use serde_json::{Value, json};

use crate::episode::Episode;

/// Books the turns of one conversation.
pub(crate) struct Scribe {
    model: String,
    prices: Prices,
    /// The messages of the last request.
    last: Vec<MessageRecord>,
    /// What was replied, with the turn's number.
    replies: Vec<(Vec<PartRecord>, u32)>,
    system: Kept,
    tools: Kept,
}

/// A text that is kept by its hash, and the file it is in.
#[derive(Default)]
struct Kept {
    text: String,
    file: Option<String>,
}

impl Scribe {
    /// `model` is the one that is asked; a server may tell a more exact name.
    pub fn new(model: &str, prices: Prices) -> Self {
        Scribe {
            model: model.to_owned(),
            prices,
            last: Vec::new(),
            replies: Vec::new(),
            system: Kept::default(),
            tools: Kept::default(),
        }
    }

    /// Books a reply; the turn's number comes back.
    pub fn turn(
        &mut self,
        episode: &mut Episode,
        request: &Request<'_>,
        reply: &Reply,
        mut notes: Vec<String>,
    ) -> u32 {
        let messages: Vec<MessageRecord> =
            request.messages.iter().map(|message| self.message(episode, message)).collect();
        let same = messages.iter().zip(&self.last).take_while(|(now, then)| now == then).count();
        if reply.usage.estimated {
            notes.push("the server counted no tokens: these are estimates".to_owned());
        }
        let usage = &reply.usage;
        let names = [reply.received.model.as_str(), &self.model];
        let said: Vec<PartRecord> =
            reply.parts.iter().map(|part| part_record(episode, part)).collect();
        let failed = reply.attempts.iter().filter(|attempt| !attempt.error.is_empty());
        let system = self.system.keep(episode, request.system, "md");
        let tools = self.tools.keep(episode, &tools_json(request.tools), "json");
        let turn = episode.book(TurnRecord {
            model: names.into_iter().find(|name| !name.is_empty()).unwrap_or_default().to_owned(),
            system,
            tools,
            sent_from: same,
            sent: messages[same..].to_vec(),
            reply: said.clone(),
            stop: stop_word(reply),
            tokens: Tokens {
                input: usage.input,
                cached: usage.cached,
                cache_written: usage.cache_written,
                output: usage.output,
                reasoning: usage.reasoning,
            },
            // The name the user knows goes first.
            dollars: names.iter().rev().find_map(|name| self.prices.price(name, usage)),
            first_token_s: reply.timing.first_token.as_secs_f64(),
            total_s: reply.timing.answering.as_secs_f64(),
            waited_s: reply.timing.waited.as_secs_f64(),
            attempts: failed.map(|attempt| attempt.error.clone()).collect(),
            notes,
            ..TurnRecord::default()
        });
        self.last = messages;
        self.replies.push((said, turn));
        turn
    }

    fn message(&self, episode: &Episode, message: &Message) -> MessageRecord {
        let parts: Vec<PartRecord> =
            message.parts.iter().map(|part| part_record(episode, part)).collect();
        match message.role {
            Role::User => MessageRecord { role: "user".to_owned(), parts },
            Role::Assistant => {
                let known = self.replies.iter().rev().find(|(said, _)| *said == parts);
                let parts =
                    known.map_or(parts, |(_, turn)| vec![PartRecord::Reply { turn: *turn }]);
                MessageRecord { role: "assistant".to_owned(), parts }
            }
        }
    }
}

impl Kept {
    fn keep(&mut self, episode: &mut Episode, text: &str, extension: &str) -> Option<String> {
        if text.is_empty() {
            return None;
        }
        if self.text != text {
            text.clone_into(&mut self.text);
            self.file = episode.keep(text, extension);
        }
        self.file.clone()
    }
}

fn tools_json(tools: &[Tool]) -> String {
    if tools.is_empty() {
        return String::new();
    }
    let one = |tool: &Tool| json!({ "name": tool.name, "description": tool.description, "schema": tool.schema });
    tools_text(&Value::Array(tools.iter().map(one).collect()))
}

fn part_record(episode: &Episode, part: &Part) -> PartRecord {
    match part {
        Part::Text(text) => PartRecord::Text { text: text.clone() },
        Part::Image(image) => PartRecord::Image {
            file: episode.picture_file(&image.png).unwrap_or_default().to_owned(),
            width: image.width,
            height: image.height,
        },
        Part::Call(call) => PartRecord::Call {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        },
        Part::Answer(answer) => {
            let pictures = answer.parts.iter().filter(|part| matches!(part, Part::Image(_)));
            match episode.call_number(&answer.id) {
                Some(call) => {
                    PartRecord::Answer { id: answer.id.clone(), call, pictures: pictures.count() }
                }
                // A tool that is not ours answered.
                None => PartRecord::Text { text: texts(&answer.parts) },
            }
        }
        Part::Opaque(value) => PartRecord::Opaque { bytes: value.to_string().len() },
    }
}

fn texts(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn stop_word(reply: &Reply) -> String {
    match serde_json::to_value(reply.stop) {
        Ok(Value::String(word)) => word,
        _ => reply.received.stop.clone(),
    }
}
