//! What a model is sent: the conversation so far, made shorter when it must be.

use ruaflow_llm::{Answer, Message, Part, Role};

/// Stands for a picture that was taken out.
const NO_PICTURE: &str = "[a picture was here]";
/// Messages at the end that are never shortened: the last call and its answer.
const KEPT: usize = 2;
/// Characters of a call and of an answer in a summary.
const MAX_SUMMARY: usize = 160;

pub(super) struct History {
    messages: Vec<Message>,
}

impl History {
    /// Begins with the task.
    pub fn new(opening: Vec<Part>) -> Self {
        History { messages: vec![Message::user(opening)] }
    }

    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// What the model said.
    pub fn reply(&mut self, parts: &[Part]) {
        // No wire takes an empty message.
        if !parts.is_empty() {
            self.messages.push(Message::assistant(parts.to_vec()));
        }
    }

    /// Words to the model, after what it was told last.
    pub fn say(&mut self, texts: impl IntoIterator<Item = String>) {
        self.add(texts.into_iter().map(Part::Text).collect());
    }

    /// Words and answers to the model.
    pub fn add(&mut self, parts: Vec<Part>) {
        if parts.is_empty() {
            return;
        }
        // Two messages of one side in a row are one.
        match self.messages.last_mut().filter(|message| message.role == Role::User) {
            Some(last) => last.parts.extend(parts),
            None => self.messages.push(Message::user(parts)),
        }
    }

    /// Makes the conversation shorter: the older half of its pictures goes first, then
    /// the older half of its turns, which a summary replaces. `None` when nothing is left
    /// to take out; else what was done.
    pub fn shorten(&mut self) -> Option<String> {
        self.drop_pictures().or_else(|| self.sum_up())
    }

    fn drop_pictures(&mut self) -> Option<String> {
        let end = self.messages.len().saturating_sub(KEPT - 1);
        let mut pictures: Vec<&mut Part> = self.messages[..end]
            .iter_mut()
            .flat_map(|message| &mut message.parts)
            .flat_map(pictures_in)
            .collect();
        let count = pictures.len().div_ceil(2);
        for picture in pictures.iter_mut().take(count) {
            **picture = Part::text(NO_PICTURE);
        }
        (count > 0).then(|| format!("the {count} oldest pictures were taken out"))
    }

    fn sum_up(&mut self) -> Option<String> {
        // The task stays; from there on a reply and what it was told make a turn.
        let turns = self.messages.len().saturating_sub(1 + KEPT) / 2;
        let count = turns.div_ceil(2);
        if count == 0 {
            return None;
        }
        let old: Vec<Message> = self.messages.drain(1..=count * 2).collect();
        let mut summary = String::from("Earlier turns, shortened:\n");
        for part in old.iter().flat_map(|message| &message.parts) {
            if let Some(line) = summary_of(part) {
                summary.push_str(&line);
                summary.push('\n');
            }
        }
        if let Some(task) = self.messages.first_mut() {
            task.parts.push(Part::Text(summary));
        }
        Some(format!("the {count} oldest turns were summed up"))
    }
}

fn pictures_in(part: &mut Part) -> Vec<&mut Part> {
    match part {
        Part::Image(_) => vec![part],
        Part::Answer(answer) => {
            answer.parts.iter_mut().filter(|part| matches!(part, Part::Image(_))).collect()
        }
        _ => Vec::new(),
    }
}

fn summary_of(part: &Part) -> Option<String> {
    match part {
        Part::Text(text) => Some(short(text)).filter(|line| !line.is_empty()),
        Part::Call(call) => Some(format!("- {} {}", call.name, short(&call.arguments))),
        Part::Answer(Answer { parts, .. }) => {
            let texts = parts.iter().filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                _ => None,
            });
            Some(format!("  → {}", short(&texts.collect::<Vec<_>>().join(" "))))
        }
        Part::Image(_) | Part::Opaque(_) => None,
    }
}

/// The beginning and the end of a text, on one line.
fn short(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    let length = line.chars().count();
    if length <= MAX_SUMMARY {
        return line;
    }
    let head: String = line.chars().take(MAX_SUMMARY / 2).collect();
    let tail: String = line.chars().skip(length - MAX_SUMMARY / 2).collect();
    format!("{head} … {tail}")
}

#[cfg(test)]
mod tests {
    use ruaflow_llm::{Image, ToolCall};

    use super::*;

    fn picture() -> Part {
        Part::Image(Image { png: vec![0].into(), width: 1, height: 1 })
    }

    /// A task with a picture and turns, each with a picture.
    fn history(turns: usize) -> History {
        let mut history = History::new(vec![Part::text("the task"), picture()]);
        for turn in 0..turns {
            let id = format!("c{turn}");
            history.reply(&[Part::Call(ToolCall {
                id: id.clone(),
                name: "python".into(),
                arguments: format!("{{\"code\": \"step({turn})\"}}"),
            })]);
            let parts = vec![Part::text(format!("answer {turn}")), picture()];
            history.add(vec![Part::Answer(Answer { id, parts, failed: false })]);
        }
        history
    }

    fn pictures(history: &mut History) -> usize {
        let parts = history.messages.iter_mut().flat_map(|message| &mut message.parts);
        parts.flat_map(pictures_in).count()
    }

    /// Every call has its answer in the next message.
    fn assert_whole(history: &History) {
        for (at, message) in history.messages.iter().enumerate() {
            let expected = if at % 2 == 0 { Role::User } else { Role::Assistant };
            assert_eq!(message.role, expected, "message {at}");
            for part in &message.parts {
                if let Part::Call(call) = part {
                    let answers = &history.messages[at + 1].parts;
                    let answered = |p: &Part| matches!(p, Part::Answer(a) if a.id == call.id);
                    assert!(answers.iter().any(answered), "{} has no answer", call.id);
                }
            }
        }
    }

    #[test]
    fn the_oldest_pictures_go_first_and_the_newest_stay() {
        let mut history = history(4);
        assert_eq!(pictures(&mut history), 5);
        assert_eq!(history.shorten().unwrap(), "the 2 oldest pictures were taken out");
        assert_eq!(pictures(&mut history), 3);
        while history.drop_pictures().is_some() {}
        assert_eq!(pictures(&mut history), 1, "what the model has just asked to see");
        assert_whole(&history);
    }

    #[test]
    fn then_turns_are_summed_up_until_only_the_last_is_left() {
        let mut history = history(6);
        while history.drop_pictures().is_some() {}
        assert_eq!(history.shorten().unwrap(), "the 3 oldest turns were summed up");
        assert_whole(&history);
        let Part::Text(summary) = history.messages[0].parts.last().unwrap() else { panic!() };
        assert!(summary.contains("- python {\"code\": \"step(0)\"}\n  → answer 0"), "{summary}");
        assert!(!summary.contains("step(3)"), "{summary}");
        while history.shorten().is_some() {
            assert_whole(&history);
        }
        assert_eq!(history.messages.len(), 3, "the task, the last call and its answer");
    }

    #[test]
    fn words_join_what_was_told_last() {
        let mut history = history(2);
        history.say(["left, please".to_owned()]);
        history.say([]);
        history.reply(&[]);
        assert_eq!(history.messages.len(), 5);
        assert_whole(&history);
    }

    #[test]
    fn a_long_text_keeps_its_ends() {
        let line = short(&format!("begin {} end", "x ".repeat(500)));
        assert!(line.starts_with("begin") && line.ends_with("end") && line.chars().count() < 200);
    }
}
