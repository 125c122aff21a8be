//! Where calls pass from the MCP server's threads to the backend's.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ruaflow_llm::Image;
use ruaflow_mcp::{Answer, Call, Effect, Handler, Tool};
use ruaflow_prompt::FINISH;
use serde_json::json;

use super::gallery::Gallery;
use crate::backend::{Ending, Why};
use crate::episode::{Episode, Interrupter};
use crate::hands::Hands;

const OVER: &str = "the episode is over";
/// The tool that tells a client what nobody else has told it.
const TASK: &str = "task";

/// A call on its way to the backend.
pub(super) struct Job {
    call: Call,
    unwanted: Arc<AtomicBool>,
    answer: SyncSender<Answer>,
}

/// The backend's side: executes calls one after the other.
pub(super) struct Window {
    jobs: Receiver<Job>,
    hands: Hands,
    /// Where shown pictures are kept, if they are.
    pub gallery: Option<Arc<Gallery>>,
}

/// The clients' side.
pub(super) struct Counter {
    jobs: Mutex<Sender<Job>>,
    interrupt: Interrupter,
    running: Mutex<Arc<AtomicBool>>,
    briefing: Option<Answer>,
}

/// What a client is told that has no prompt of ours.
pub(super) struct Briefing {
    pub text: String,
    pub images: Vec<Image>,
}

/// Opens an episode's counter: its tools, who takes the calls, who executes them.
pub(super) fn open(
    episode: &Episode,
    briefing: Option<Briefing>,
) -> (Vec<Tool>, Arc<Counter>, Window) {
    let hands = Hands::new(episode);
    let effect = |tool: &ruaflow_prompt::Tool| match tool.name.as_str() {
        FINISH => Effect::Ends,
        _ if tool.moves => Effect::Moves,
        _ => Effect::Reads,
    };
    let told = briefing.as_ref().map(|_| Tool {
        name: TASK.to_owned(),
        description: "What the task is and how this robot is driven. Read it first.".to_owned(),
        schema: json!({"type": "object", "properties": {}, "additionalProperties": false}),
        effect: Effect::Reads,
    });
    let listed = hands.tools().iter().map(|tool| Tool {
        name: tool.name.clone(),
        description: tool.description.clone(),
        schema: tool.schema.clone(),
        effect: effect(tool),
    });
    let tools = told.into_iter().chain(listed).collect();
    let (sender, jobs) = channel();
    let counter = Counter {
        jobs: Mutex::new(sender),
        interrupt: episode.interrupter(),
        running: Mutex::default(),
        briefing: briefing.map(|briefing| Answer {
            text: briefing.text,
            pictures: briefing.images.into_iter().map(|image| image.png).collect(),
            failed: false,
        }),
    };
    (tools, Arc::new(counter), Window { jobs, hands, gallery: None })
}

impl Handler for Counter {
    fn call(&self, call: &Call) -> Answer {
        if let (TASK, Some(briefing)) = (call.tool.as_str(), &self.briefing) {
            return briefing.clone();
        }
        let unwanted = Arc::<AtomicBool>::default();
        *lock(&self.running) = unwanted.clone();
        let (answer, answered) = sync_channel(1);
        let job = Job { call: call.clone(), unwanted, answer };
        if lock(&self.jobs).send(job).is_err() {
            return Answer::failed(OVER);
        }
        answered.recv().unwrap_or_else(|_| Answer::failed(OVER))
    }

    fn cancel(&self) {
        lock(&self.running).store(true, Ordering::Relaxed);
        (self.interrupt)();
    }
}

impl Window {
    /// Waits for a call.
    pub fn wait(&self, within: Duration) -> Option<Job> {
        self.jobs.recv_timeout(within).ok()
    }

    /// Executes a call; an ending comes back when it was the last one.
    pub fn execute(&mut self, episode: &mut Episode, job: Job) -> Option<Ending> {
        let Call { tool, arguments, id, .. } = &job.call;
        let arguments = arguments.to_string();
        let outcome = if job.unwanted.load(Ordering::Relaxed) {
            let why = "cancelled before it began: nothing was run";
            self.hands.refuse(episode, id, tool, &arguments, why)
        } else {
            self.hands.call(episode, id, tool, &arguments)
        };
        let mut text = outcome.text;
        if let (None, Some(limit)) = (&outcome.ending, episode.left().used_up()) {
            let words = Why::Budget(limit).words();
            if !text.contains(&words) {
                text.push_str(&format!("[{words}]\n"));
            }
        }
        for said in episode.said() {
            text.push_str(&format!("\n[{said}]\n"));
        }
        if let Some(gallery) = &self.gallery {
            gallery.hang(id, outcome.images.clone());
        }
        let pictures = outcome.images.into_iter().map(|image| image.png).collect();
        // The client may be gone.
        let _ = job.answer.send(Answer { text, pictures, failed: outcome.failed });
        outcome.ending
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use ruaflow_schemas::CellResult;

    use super::*;
    use crate::rehearsal;

    fn call(code: &str) -> Call {
        Call {
            tool: "python".to_owned(),
            arguments: json!({"code": code}),
            id: "c".to_owned(),
            client: "ide 1".to_owned(),
        }
    }

    fn ok(_: &str, index: u32) -> CellResult {
        CellResult { index, status: "ok".to_owned(), ..CellResult::default() }
    }

    #[test]
    fn a_call_that_is_cancelled_before_it_begins_is_not_run() {
        let (mut episode, ran) = rehearsal::episode(ok);
        let (_tools, counter, mut window) = open(&episode, None);
        let calling = counter.clone();
        let waiting = std::thread::spawn(move || calling.call(&call("1")));
        let job = window.jobs.recv().unwrap();
        counter.cancel();
        assert_eq!(window.execute(&mut episode, job), None);
        let answer = waiting.join().unwrap();
        assert!(answer.failed && answer.text.contains("cancelled"), "{answer:?}");
        assert!(ran.cells().is_empty());
    }

    #[test]
    fn who_calls_after_the_end_is_told() {
        let (episode, _ran) = rehearsal::episode(ok);
        let (_tools, counter, window) = open(&episode, None);
        drop(window);
        assert_eq!(counter.call(&call("1")), Answer::failed(OVER));
    }

    #[test]
    fn what_a_person_says_comes_with_the_next_answer() {
        let (mut episode, _ran) = rehearsal::episode(ok);
        let (_tools, counter, mut window) = open(&episode, None);
        episode.control().wish(crate::control::Wish::Say("slower".to_owned()));
        let waiting = std::thread::spawn(move || counter.call(&call("1")));
        let job = window.jobs.recv().unwrap();
        assert_eq!(window.execute(&mut episode, job), None);
        let answer = waiting.join().unwrap();
        assert!(answer.text.contains("slower"), "{answer:?}");
    }

    #[test]
    fn tools_tell_what_they_do_and_a_briefing_is_one_of_them() {
        let (episode, _ran) = rehearsal::episode(ok);
        let briefing = Briefing { text: "lift the bowl".to_owned(), images: Vec::new() };
        let (tools, counter, _window) = open(&episode, Some(briefing));
        let told: Vec<_> = tools.iter().map(|tool| (tool.name.as_str(), tool.effect)).collect();
        let expected = [(TASK, Effect::Reads), ("python", Effect::Moves), (FINISH, Effect::Ends)];
        assert_eq!(told, expected);
        let asked = Call { tool: TASK.to_owned(), ..call("") };
        assert_eq!(counter.call(&asked).text, "lift the bowl");
    }
}
