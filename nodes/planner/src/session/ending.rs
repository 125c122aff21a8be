//! How an episode and a run end, and who is to blame.

use std::collections::BTreeSet;
use std::time::Instant;

use ruaflow_record::{Failure, Happening, Notice, Reason, Status};
use serde_json::Value;

use crate::backend::{Over, Why};

use super::{Broken, LEAVING_LIMIT, MAX_WARNINGS, Out, RECORDED_LIMIT, Session, State};

impl Session {
    /// The episode is over: everybody is told, and the recorder's word is waited for.
    pub(super) fn end(&mut self, now: Instant, reason: Reason) {
        self.release(Over::because(Why::Stopped));
        self.sum_up_episode(now, reason);
        let (episode, success) = (self.episode(), self.live.success);
        self.out.push(Out::Ended { episode, reason, success });
        self.state = State::Closing { until: now + RECORDED_LIMIT };
        if self.gone.contains(&self.peers.recorder) {
            self.close(now, None);
        }
    }

    /// The recorder has the episode, or nobody will say so any more.
    pub(super) fn close(&mut self, now: Instant, recorded: Option<&Value>) {
        if let Some(data) = recorded {
            self.live.correct(data);
            if data["complete"] == false && self.broken.is_none() {
                let recorder = self.peers.recorder.clone();
                self.warn(&recorder, &format!("the record of episode {} has gaps", self.episode()));
            }
        }
        let reason = self.result.episodes.last().and_then(|e| e.reason).unwrap_or(Reason::Error);
        // The robot's last word may have come to the recorder alone.
        let reason = match reason {
            Reason::PolicyFinished | Reason::CellError if self.live.terminated => Reason::Success,
            other => other,
        };
        self.sum_up_episode(now, reason);
        let Some(episode) = self.result.episodes.last_mut() else { return };
        episode.recorded = recorded.is_some_and(|data| data["complete"] == true);
        let told = Happening::Ended {
            episode: episode.episode,
            reason,
            success: episode.environment_success,
            judged: episode.judged,
            control_steps: episode.env_steps,
            calls: episode.calls,
            cells: episode.cells,
            seconds: episode.policy_wall_s,
        };
        self.out.push(Out::Tell(told));
        let next = self.episode() + 1;
        if self.broken.is_some() || next >= self.asked.scenes.count() {
            self.leave(now);
        } else {
            self.result.sum_up();
            self.out.push(Out::Save);
            self.begin(now, next);
        }
    }

    pub(super) fn leave(&mut self, now: Instant) {
        self.finish(now);
        self.out.push(Out::Shutdown);
        let waiting: BTreeSet<String> = self.peers.all().difference(&self.gone).cloned().collect();
        self.state = if waiting.is_empty() {
            State::Left
        } else {
            State::Leaving { until: now + LEAVING_LIMIT, waiting }
        };
    }

    pub(super) fn finish(&mut self, now: Instant) {
        let result = &mut self.result;
        result.sum_up();
        (result.status, result.error) = match &self.broken {
            None => (Status::Completed, None),
            Some(Broken::Failed(failure)) => (Status::Failed, Some(failure.clone())),
            Some(Broken::Interrupted) => (Status::Interrupted, None),
        };
        result.total_wall_s = (now - self.started).as_secs_f64();
        let told = Happening::Verdict {
            status: result.status,
            success: result.environment_success,
            judged: result.episodes.iter().any(|e| e.judged),
            solved: result.episodes.iter().filter(|e| e.environment_success).count() as u32,
            episodes: self.asked.scenes.count(),
            error: result.error.clone(),
            seconds: result.total_wall_s,
        };
        self.out.push(Out::Save);
        self.out.push(Out::Tell(told));
    }

    pub(super) fn interrupt(&mut self, now: Instant) {
        if matches!(self.state, State::Closing { .. } | State::Leaving { .. } | State::Left) {
            // Too late for this episode; there is no next one.
            self.broken.get_or_insert(Broken::Interrupted);
            return;
        }
        self.broken.get_or_insert(Broken::Interrupted);
        if self.in_episode() { self.end(now, Reason::Stopped) } else { self.leave(now) }
    }

    pub(super) fn fail(&mut self, now: Instant, reason: Reason, node: &str, message: String) {
        self.note_failure(reason, node, message);
        if matches!(self.state, State::Closing { .. } | State::Leaving { .. } | State::Left) {
            return;
        }
        if self.in_episode() { self.end(now, reason) } else { self.leave(now) }
    }

    /// The first failure is the one to blame; others follow from it.
    pub(super) fn note_failure(&mut self, reason: Reason, node: &str, message: String) {
        if matches!(self.broken, Some(Broken::Failed(_)))
            || matches!(self.state, State::Leaving { .. } | State::Left)
        {
            return;
        }
        let failure = Failure { node: node.to_owned(), message };
        self.broken = Some(Broken::Failed(failure.clone()));
        if let Some(episode) = self.result.episodes.last_mut() {
            episode.reason = Some(reason);
            episode.error = Some(failure);
        } else {
            self.result.reason = Some(reason);
        }
    }

    pub(super) fn warn(&mut self, node: &str, message: &str) {
        if self.result.warnings.len() < MAX_WARNINGS {
            self.result
                .warnings
                .push(Notice { node: node.to_owned(), message: message.to_owned() });
            self.out.push(Out::Tell(Happening::Warning {
                node: node.to_owned(),
                message: message.to_owned(),
            }));
        }
    }

    pub(super) fn sum_up_episode(&mut self, now: Instant, reason: Reason) {
        let status = match &self.broken {
            None => Status::Completed,
            Some(Broken::Failed(_)) => Status::Failed,
            Some(Broken::Interrupted) => Status::Interrupted,
        };
        if let Some(episode) = self.result.episodes.last_mut() {
            self.live.fill_in(episode, now);
            episode.reason = Some(reason);
            episode.status = status;
        }
    }
}
