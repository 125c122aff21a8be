use std::sync::{Arc, Mutex};

use eyre::{Result, bail};
use ruaflow_schemas::{ArmState, Bytes, Camera, CameraFrame};

use super::*;

#[derive(Default)]
struct Fake {
    resets: u32,
    held: u32,
    terminate_at: u64,
    steps: u64,
    fail: Option<StepError>,
    pending: Vec<FrameReply>,
    /// Goes on by itself from this moment on.
    due: Option<Instant>,
}

fn arm_state() -> ArmState {
    ArmState { name: "arm".into(), eef_quat: [1.0, 0.0, 0.0, 0.0], ..ArmState::default() }
}

impl Robot for Fake {
    fn reset(&mut self, reset: &Reset) -> Result<Card> {
        if reset.suite == "nowhere" {
            bail!("no suite \"nowhere\"");
        }
        self.resets += 1;
        self.steps = 0;
        Ok(Card {
            robot: "fake".into(),
            arms: vec![Arm {
                name: "arm".into(),
                joints: vec!["a".into(), "b".into()],
                action_kinds: vec!["osc_pose_delta".into(), "joint_position".into()],
                ..Arm::default()
            }],
            cameras: vec![Camera {
                name: "front".into(),
                width: 4,
                height: 2,
                ..Camera::default()
            }],
            max_control_steps: 5,
            first: Observation {
                arms: vec![arm_state()],
                control_step: 77,
                ..Observation::default()
            },
            ..Card::default()
        })
    }

    fn step(&mut self, _: &Action) -> Result<Observation, StepError> {
        if let Some(error) = self.fail.clone() {
            return Err(error);
        }
        self.steps += 1;
        let terminated = self.steps == self.terminate_at;
        Ok(Observation {
            arms: vec![arm_state()],
            terminated,
            success: terminated,
            ..Observation::default()
        })
    }

    fn state(&mut self) -> Option<State> {
        Some(State { integration: vec![self.steps as f64], ..State::default() })
    }

    fn versions(&self) -> BTreeMap<String, String> {
        let known = self.due.is_some().then(|| ("clockwork".to_owned(), "2".to_owned()));
        known.into_iter().collect()
    }

    fn due(&self) -> Option<Instant> {
        self.due
    }

    fn advance(&mut self) -> Result<Observation> {
        self.steps += 1;
        Ok(Observation { arms: vec![arm_state()], ..Observation::default() })
    }

    fn hold(&mut self) {
        self.held += 1;
    }

    fn frame(&mut self, _: FrameRequest, reply: FrameReply) {
        self.pending.push(reply);
    }
}

type Pictures = Arc<Mutex<Vec<CameraFrame>>>;

fn session(robot: Fake) -> (Session<Fake>, Pictures) {
    let pictures = Pictures::default();
    let kept = pictures.clone();
    (Session::new(robot, Arc::new(move |frame, _| kept.lock().unwrap().push(frame))), pictures)
}

fn running(robot: Fake) -> (Session<Fake>, Pictures) {
    let (mut session, pictures) = session(robot);
    session.reset(&reset("r1"));
    (session, pictures)
}

fn reset(id: &str) -> Reset {
    Reset { id: id.into(), suite: "suite".into(), seed: 7, ..Reset::default() }
}

fn action(id: u64) -> Action {
    Action {
        id,
        arm: "arm".into(),
        kind: "osc_pose_delta".into(),
        values: vec![0.0; 6],
        gripper: -1.0,
    }
}

fn observed(outs: &[Out]) -> &Observation {
    match outs {
        [Out::Observation(observation), ..] => observation,
        other => panic!("not an observation: {other:?}"),
    }
}

fn reason(outs: &[Out]) -> &str {
    match outs {
        [Out::Refused { reason, .. }] => reason,
        other => panic!("not a refusal: {other:?}"),
    }
}

#[test]
fn a_reset_is_answered_once_and_then_from_memory() {
    let (mut session, _) = session(Fake::default());
    let outs = session.reset(&reset("r1"));
    let [Out::Card(card), Out::Recorded(first), Out::State(state)] = outs.as_slice() else {
        panic!("{outs:?}")
    };
    assert_eq!((card.id.as_str(), card.seed, card.first.control_step), ("r1", 7, 0));
    assert_eq!((first.control_step, state.control_step), (0, 0));

    session.action(&action(1));
    let outs = session.reset(&reset("r1"));
    assert!(matches!(outs.as_slice(), [Out::Card(card)] if card.id == "r1"));
    assert_eq!((session.robot.resets, session.robot.steps), (1, 1));
    session.reset(&reset("r2"));
    assert_eq!((session.robot.resets, session.robot.steps), (2, 0));
}

#[test]
fn a_failed_reset_says_why_and_takes_no_action() {
    let (mut session, _) = session(Fake::default());
    let outs = session.reset(&Reset { suite: "nowhere".into(), ..reset("r1") });
    assert!(
        matches!(outs.as_slice(), [Out::Card(card)] if card.error == "no suite \"nowhere\"" && card.id == "r1")
    );
    assert_eq!(reason(&session.action(&action(1))), "no episode: the robot waits for a reset");
}

#[test]
fn an_action_is_answered_by_observation_and_state() {
    let (mut session, _) = running(Fake::default());
    let outs = session.action(&action(3));
    let [Out::Observation(observation), Out::State(state)] = outs.as_slice() else {
        panic!("{outs:?}")
    };
    assert_eq!((observation.action_id, observation.control_step), (3, 1));
    assert_eq!((state.control_step, state.integration.as_slice()), (1, [1.0].as_slice()));
}

#[test]
fn a_repeated_action_gets_the_same_answer_without_moving() {
    let (mut session, _) = running(Fake::default());
    session.action(&action(3));
    let outs = session.action(&action(3));
    assert!(matches!(outs.as_slice(), [Out::Again(observation)] if observation.control_step == 1));
    assert_eq!(session.robot.steps, 1);
    assert!(reason(&session.action(&action(2))).contains("the last was 3, this is 2"));
}

#[test]
fn bad_actions_are_refused_and_nothing_moves() {
    let (mut session, _) = running(Fake::default());
    let mut refuse = |change: fn(&mut Action)| {
        let mut bad = action(1);
        change(&mut bad);
        reason(&session.action(&bad)).to_owned()
    };
    assert_eq!(refuse(|a| a.arm = "left".into()), "no arm \"left\"; arms: arm");
    assert_eq!(
        refuse(|a| a.kind = "eef_pose".into()),
        "arm \"arm\" takes no action of kind \"eef_pose\"; kinds: osc_pose_delta, joint_position"
    );
    assert_eq!(
        refuse(|a| a.values = vec![0.0; 7]),
        "an action of kind \"osc_pose_delta\" has 6 values, got 7"
    );
    assert_eq!(
        refuse(|a| a.kind = "joint_position".into()),
        "an action of kind \"joint_position\" has 2 values, got 6"
    );
    assert_eq!(refuse(|a| a.values[2] = f64::NAN), "values[2] must be finite, got NaN");
    assert_eq!(refuse(|a| a.values[0] = 1.5), "values[0] must be within [-1, 1], got 1.5");
    assert_eq!(refuse(|a| a.gripper = f64::INFINITY), "gripper must be finite, got inf");
    assert_eq!(refuse(|a| a.gripper = 2.0), "gripper must be within [-1, 1], got 2");
    assert_eq!(session.robot.steps, 0);
}

#[test]
fn the_episode_ends_with_success_and_at_its_step_limit() {
    let (mut solved, _) = running(Fake { terminate_at: 2, ..Fake::default() });
    assert!(!observed(&solved.action(&action(1))).terminated);
    let last = solved.action(&action(2));
    assert!(observed(&last).terminated && observed(&last).success && !observed(&last).truncated);
    assert_eq!(reason(&solved.action(&action(3))), "the episode is over");

    let (mut slow, _) = session(Fake::default());
    slow.reset(&Reset { max_control_steps: 2, ..reset("r1") });
    assert!(!observed(&slow.action(&action(1))).truncated);
    assert!(observed(&slow.action(&action(2))).truncated);
    assert_eq!(reason(&slow.action(&action(3))), "the episode is over");
}

#[test]
fn an_ended_episode_holds_until_the_next_reset() {
    let (mut session, _) = running(Fake::default());
    session.end();
    assert_eq!(session.robot.held, 1);
    assert_eq!(reason(&session.action(&action(1))), "the episode is over");
    session.reset(&reset("r2"));
    observed(&session.action(&action(1)));
}

#[test]
fn an_emergency_stop_lasts() {
    let (mut session, _) = running(Fake::default());
    session.stop();
    assert_eq!(session.robot.held, 1);
    assert_eq!(reason(&session.action(&action(1))), "a person has stopped the robot");
    let outs = session.reset(&reset("r2"));
    assert!(matches!(outs.as_slice(), [Out::Card(card)] if card.error.contains("stopped")));
}

#[test]
fn a_refused_step_may_be_followed_by_another_and_a_failed_one_not() {
    let (mut session, _) =
        running(Fake { fail: Some(StepError::Refused("joint limit".into())), ..Fake::default() });
    assert_eq!(reason(&session.action(&action(1))), "joint limit");
    session.robot.fail = None;
    observed(&session.action(&action(2)));
    session.robot.fail = Some(StepError::Failed("motor 3 is hot".into()));
    let outs = session.action(&action(3));
    assert!(
        matches!(outs.as_slice(), [Out::Refused { action_id: 3, .. }, Out::Failed(reason)] if reason == "motor 3 is hot")
    );
    assert_eq!(session.robot.held, 1);
}

#[test]
fn pictures_are_asked_for_by_name_size_and_step() {
    let (mut session, pictures) = running(Fake::default());
    let wanted = FrameRequest {
        id: "f1".into(),
        camera: "front".into(),
        control_step: -1,
        ..FrameRequest::default()
    };
    session.frame(wanted.clone());
    assert!(pictures.lock().unwrap().is_empty());
    let picture =
        CameraFrame { width: 4, height: 2, color: Bytes(vec![9; 24]), ..CameraFrame::default() };
    session.robot.pending.pop().unwrap().send(picture.clone());
    let answer = pictures.lock().unwrap().pop().unwrap();
    assert_eq!(
        (answer.id.as_str(), answer.camera.as_str(), answer.error.as_str()),
        ("f1", "front", "")
    );

    let mut refused = |change: fn(&mut FrameRequest)| {
        let mut request = wanted.clone();
        change(&mut request);
        session.frame(request);
        let answer = pictures.lock().unwrap().pop().unwrap();
        assert_eq!(answer.id, "f1");
        answer.error
    };
    assert_eq!(refused(|r| r.camera = "back".into()), "no camera \"back\"; cameras: front");
    assert_eq!(refused(|r| r.control_step = 1), "no control step 1; the latest is 0");
    assert_eq!(refused(|r| r.control_step = -2), "no control step -2; the latest is 0");
    assert_eq!(
        refused(|r| r.width = 100_000),
        "100000 x 2 pixels are too many; 4096 a side at most"
    );
    assert_eq!(refused(|r| r.depth = true), "camera \"front\" measures no depth");

    session.frame(wanted.clone());
    session.robot.pending.pop().unwrap().send(CameraFrame { color: Bytes(vec![0; 3]), ..picture });
    let answer = pictures.lock().unwrap().pop().unwrap();
    assert_eq!(answer.error, "the robot's picture of 4 x 2 has 3 color values, not 24");

    session.frame(wanted);
    session.robot.pending.clear();
    assert_eq!(pictures.lock().unwrap().pop().unwrap().error, "the robot made no picture");
}

#[test]
fn there_is_no_picture_before_a_reset() {
    let (mut session, pictures) = session(Fake::default());
    session.frame(FrameRequest { id: "f1".into(), ..FrameRequest::default() });
    assert_eq!(
        pictures.lock().unwrap().pop().unwrap().error,
        "no scene: the robot has not been reset"
    );
}

#[test]
fn an_observation_that_cannot_be_steered_by_ends_the_run() {
    let (session, _) = running(Fake::default());
    let mut episode = session.episode.unwrap();
    let mut bad = Observation { arms: vec![arm_state()], ..Observation::default() };
    bad.arms[0].eef_pos[1] = f64::NAN;
    assert!(matches!(episode.take(1, bad), Err(StepError::Failed(_))));
    assert!(matches!(episode.take(1, Observation::default()), Err(StepError::Failed(_))));
}

#[test]
fn a_recorded_state_is_refused_by_a_robot_that_cannot_begin_in_it() {
    let (mut session, _) = session(Fake::default());
    let outs = session.reset(&Reset { state: Some(State::default()), ..reset("r1") });
    let [Out::Card(card)] = &outs[..] else { panic!("{outs:?}") };
    assert!(card.error.contains("recorded state"), "{}", card.error);
    assert_eq!(session.robot.resets, 0);
}

#[test]
fn pictures_are_counted_by_episode() {
    let (mut session, _) = running(Fake::default());
    let count = |session: &mut Session<Fake>, rendered| -> (u64, u64) {
        let data = session.count_picture(rendered, serde_json::json!({ "id": "f" }));
        let data: Value = serde_json::from_str(&data).unwrap();
        assert_eq!(data["id"], "f");
        (data["asked_so_far"].as_u64().unwrap(), data["rendered_so_far"].as_u64().unwrap())
    };
    assert_eq!(count(&mut session, true), (1, 1));
    assert_eq!(count(&mut session, false), (2, 1));
    session.reset(&reset("r2"));
    assert_eq!(count(&mut session, true), (1, 1));
}

#[test]
fn a_robot_that_moves_by_itself_is_measured_until_its_steps_are_used_up() {
    let due = Instant::now();
    let (mut session, _) = session(Fake { due: Some(due), ..Fake::default() });
    assert_eq!(session.due(), None, "there is no episode");
    let outs = session.reset(&reset("r1"));
    assert!(matches!(&outs[3], Out::Versions(versions) if versions["clockwork"] == "2"));
    session.action(&action(4));
    for step in 2..=5 {
        assert_eq!(session.due(), Some(due));
        let outs = session.advance();
        let observation = observed(&outs);
        assert_eq!((observation.control_step, observation.action_id), (step, 4));
        assert_eq!(observation.truncated, step == 5);
        assert!(matches!(&outs[1], Out::State(state) if state.control_step == step));
    }
    let again = session.due().unwrap();
    assert!(again > due, "its control steps are used up");
    let outs = session.advance();
    assert!(matches!(&outs[..], [Out::Again(last)] if last.control_step == 5 && last.truncated));
    let outs = session.action(&action(5));
    assert!(matches!(&outs[..], [Out::Again(last), Out::Refused { .. }] if last.truncated));
    session.end();
    assert_eq!(session.due(), None, "the episode is over");
    session.reset(&reset("r2"));
    assert_eq!(session.due(), Some(due));
    session.stop();
    assert_eq!(session.due(), None, "a person has stopped it");
}
