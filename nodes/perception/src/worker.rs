//! The thread on which eyes look, so that the node's loop never waits for them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use ruaflow_schemas::{Segment, SegmentRequest};

use crate::answer::answer;
use crate::cache::Cache;
use crate::eyes::{Eyes, EyesError, Labels, Sight};
use crate::question::{Question, QuestionError};

/// A request and what only a simulator knows of its picture.
pub(crate) struct Job {
    pub request: SegmentRequest,
    pub labels: Option<Labels>,
}

/// Hands requests to the eyes' thread.
pub(crate) struct Worker(mpsc::Sender<Job>);

/// What comes of a request, or why eyes that were to open at once can't.
pub(crate) enum Done {
    Answer(Segment),
    Failed(EyesError),
}

/// When eyes are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// At once, so that a run with files that can't be used ends at its start.
    AtOnce,
    /// For the first question, since many runs ask none.
    WhenAsked,
}

impl Worker {
    /// `results` returns false when the node has ended.
    pub fn start<E: Eyes>(
        open: impl Fn() -> Result<E, EyesError> + Send + 'static,
        when: Opening,
        results: impl Fn(Done) -> bool + Send + 'static,
    ) -> std::io::Result<Self> {
        let (sender, jobs) = mpsc::channel();
        let work = move || {
            let mut desk = Desk { open, eyes: None, cache: Cache::default() };
            if when == Opening::AtOnce
                && let Err(error) = desk.eyes()
            {
                results(Done::Failed(error));
            }
            for job in jobs {
                if !results(Done::Answer(desk.answer(job))) {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("eyes".to_owned()).spawn(work)?;
        Ok(Worker(sender))
    }

    /// Returns false when the thread has ended.
    pub fn ask(&self, job: Job) -> bool {
        self.0.send(job).is_ok()
    }
}

/// Eyes and what they have seen.
struct Desk<E: Eyes, F> {
    open: F,
    eyes: Option<E>,
    cache: Cache<E>,
}

#[derive(Debug, thiserror::Error)]
enum DeskError {
    #[error(transparent)]
    Question(#[from] QuestionError),
    #[error(transparent)]
    Eyes(#[from] EyesError),
    #[error("the eyes have panicked; they are opened anew for the next question")]
    Panicked,
}

impl<E: Eyes, F: Fn() -> Result<E, EyesError>> Desk<E, F> {
    fn eyes(&mut self) -> Result<&mut E, EyesError> {
        match &mut self.eyes {
            Some(eyes) => Ok(eyes),
            none => Ok(none.insert((self.open)()?)),
        }
    }

    fn answer(&mut self, job: Job) -> Segment {
        let id = job.request.id.clone();
        let privileged = E::WANTS_LABELS;
        let answered = catch_unwind(AssertUnwindSafe(|| self.see(job)));
        let answered = answered.unwrap_or_else(|_| {
            // What a panic has left half done is not used again.
            self.eyes = None;
            self.cache = Cache::default();
            Err(DeskError::Panicked)
        });
        match answered {
            Ok(segment) => Segment { id, privileged, ..segment },
            Err(error) => {
                Segment { id, privileged, error: error.to_string(), ..Segment::default() }
            }
        }
    }

    fn see(&mut self, job: Job) -> Result<Segment, DeskError> {
        let question = Question::check(job.request)?;
        self.eyes()?;
        let Some(eyes) = &mut self.eyes else { return Err(DeskError::Panicked) };
        let begun = Instant::now();
        let sight = Sight { picture: question.picture.clone(), labels: job.labels };
        let (features, new) = self.cache.features(eyes, sight)?;
        let look_ns = if new { nanoseconds(begun.elapsed()) } else { 0 };
        let begun = Instant::now();
        let found = answer(eyes, features, &question)?;
        Ok(Segment {
            reason: found.reason,
            instances: found.instances,
            source: eyes.name(),
            look_ns,
            ask_ns: nanoseconds(begun.elapsed()),
            ..Segment::default()
        })
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use ruaflow_schemas::Bytes;

    use super::*;
    use crate::eyes::{Asked, Instance};

    /// Eyes that do what the phrase says.
    struct Obedient {
        looks: usize,
    }

    impl Eyes for Obedient {
        type Features = usize;

        const KEPT: usize = 2;

        fn name(&self) -> String {
            "obedient".to_owned()
        }

        fn look(&mut self, _: &Sight) -> Result<usize, EyesError> {
            self.looks += 1;
            Ok(self.looks)
        }

        fn ask(&mut self, looks: &usize, asked: Asked<'_>) -> Result<Vec<Instance>, EyesError> {
            let instance = |score, length| {
                Ok(vec![Instance { label: looks.to_string(), score, mask: vec![1; length] }])
            };
            match asked {
                Asked::Phrase("fall over") => panic!("as told"),
                Asked::Phrase("fail") => Err(EyesError::Picture("as told".to_owned())),
                Asked::Phrase("lie") => instance(f32::NAN, 4),
                Asked::Phrase("shorten") => instance(0.9, 3),
                _ => instance(0.9, 4),
            }
        }
    }

    fn request(prompt: &str, shade: u8) -> SegmentRequest {
        SegmentRequest {
            id: prompt.to_owned(),
            prompt: prompt.to_owned(),
            top_k: 1,
            width: 2,
            height: 2,
            color: Bytes(vec![shade; 12]),
            ..SegmentRequest::default()
        }
    }

    fn worker(when: Opening, broken: bool) -> (Worker, mpsc::Receiver<Done>) {
        let (sender, done) = mpsc::channel();
        let open = move || match broken {
            true => Err(EyesError::Files("no files".to_owned())),
            false => Ok(Obedient { looks: 0 }),
        };
        (Worker::start(open, when, move |answer| sender.send(answer).is_ok()).unwrap(), done)
    }

    fn answer(worker: &Worker, done: &mpsc::Receiver<Done>, request: SegmentRequest) -> Segment {
        assert!(worker.ask(Job { request, labels: None }));
        match done.recv_timeout(Duration::from_secs(60)).unwrap() {
            Done::Answer(answer) => answer,
            Done::Failed(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_picture_is_looked_at_once() {
        let (worker, done) = worker(Opening::WhenAsked, false);
        let looks =
            |shade: u8| answer(&worker, &done, request("bowl", shade)).instances[0].label.clone();
        assert_eq!([1, 1, 2, 1].map(looks), ["1", "1", "2", "1"]);
        assert_eq!([3, 1, 2].map(looks), ["3", "1", "4"], "two are kept, those used last");
        let again = answer(&worker, &done, request("plate", 2));
        assert_eq!((again.look_ns, again.source.as_str()), (0, "obedient"));
        assert!(!again.privileged);
    }

    #[test]
    fn whatever_goes_wrong_is_an_answer() {
        let (worker, done) = worker(Opening::WhenAsked, false);
        for (prompt, error) in [
            ("fall over", "panicked"),
            ("fail", "as told"),
            ("lie", "score NaN"),
            ("shorten", "a mask of 3 bytes for 4 pixels"),
            ("", "the prompt is empty"),
        ] {
            let answer = answer(&worker, &done, request(prompt, 1));
            assert!(answer.error.contains(error) && answer.id == prompt, "{prompt}: {answer:?}");
        }
        let fine = answer(&worker, &done, request("bowl", 1));
        assert_eq!((fine.error.as_str(), fine.instances.len()), ("", 1));
    }

    #[test]
    fn eyes_that_can_not_open_say_so() {
        let (lazy, done) = worker(Opening::WhenAsked, true);
        assert_eq!(answer(&lazy, &done, request("bowl", 1)).error, "no files");
        let (_eager, done) = worker(Opening::AtOnce, true);
        assert!(matches!(done.recv_timeout(Duration::from_secs(60)), Ok(Done::Failed(_))));
    }
}
