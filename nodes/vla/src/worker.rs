//! The thread on which a policy thinks, so that the node's loop never waits for it.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use ruaflow_kit::Sender;
use ruaflow_schemas::ChunkRequest;

use crate::policy::{Actions, Policy, PolicyError, Shown};
use crate::view::{Pictures, policy_state};

/// What came of a request.
pub(crate) struct Done {
    pub request: ChunkRequest,
    pub outcome: Result<Actions, PolicyError>,
    pub took: Duration,
}

/// Hands requests to the policy's thread.
pub(crate) struct Worker(mpsc::Sender<(ChunkRequest, Pictures)>);

impl Worker {
    pub fn start(policy: Box<dyn Policy>, results: Sender<Done>) -> std::io::Result<Self> {
        let (sender, requests) = mpsc::channel();
        std::thread::Builder::new()
            .name("policy".to_owned())
            .spawn(move || think(policy, &requests, &results))?;
        Ok(Worker(sender))
    }

    /// Returns false when the thread has ended.
    pub fn ask(&self, request: ChunkRequest, pictures: Pictures) -> bool {
        self.0.send((request, pictures)).is_ok()
    }
}

fn think(
    mut policy: Box<dyn Policy>,
    requests: &mpsc::Receiver<(ChunkRequest, Pictures)>,
    results: &Sender<Done>,
) {
    for (request, pictures) in requests {
        let begun = Instant::now();
        let outcome =
            policy_state(&request.observation).map_err(PolicyError::Answer).and_then(|state| {
                policy.infer(&Shown {
                    image: pictures.agentview,
                    wrist_image: pictures.wrist,
                    state,
                    prompt: request.prompt.clone(),
                })
            });
        if !results.send(Done { request, outcome, took: begun.elapsed() }) {
            return;
        }
    }
}
