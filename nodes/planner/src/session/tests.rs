mod stage;

use std::time::SystemTime;

use ruaflow_kit::Settings;
use ruaflow_record::Status;
use ruaflow_schemas::Observation;
use serde_json::json;

use self::stage::{Stage, asked};
use super::*;

#[test]
fn a_script_is_played_to_its_end() {
    let mut stage = Stage::in_episode("# %% a\n1\n# %% b\n2\n");
    let card = stage.sent(|o| if let Out::Card(card) = o { Some(card.clone()) } else { None });
    assert_eq!(card.budget_ms, 100_000);
    let reset = stage.sent(|o| if let Out::Reset(reset) = o { Some(reset.clone()) } else { None });
    assert_eq!((reset.seed, reset.settle, reset.max_control_steps), (10, 15, 300));
    stage.call(12, false);
    stage.cell("ok", 1);
    stage.call(20, false);
    stage.call(31, false);
    stage.cell("ok", 2);
    assert_eq!(stage.ended(), Some(Reason::PolicyFinished));
    assert!(!stage.said_goodbye(), "the recorder has not confirmed");
    stage.recorded(0);
    assert!(stage.said_goodbye());
    let result = stage.result();
    assert_eq!((result.status, result.environment_success), (Status::Completed, false));
    assert_eq!(
        (result.cells, result.calls, result.stateful_calls, result.env_steps),
        (2, 3, 3, 31)
    );
    assert!(result.episodes[0].recorded);
    assert!(!stage.session.has_left());
    stage.all_leave();
    assert!(stage.session.has_left());
}

#[test]
fn success_ends_the_episode_after_the_cell_that_brought_it() {
    let mut stage = Stage::in_episode("# %%\n1\n# %%\n2\n");
    stage.call(40, true);
    assert_eq!(stage.ended(), None, "the cell goes on");
    stage.cell("ok", 1);
    assert_eq!(stage.ended(), Some(Reason::Success));
    stage.recorded(0);
    assert!(stage.result().environment_success);
    assert_eq!(stage.result().reason, Some(Reason::Success));
    assert_eq!(stage.result().cells, 1);
}

#[test]
fn the_verdict_waits_for_the_last_calls_result() {
    let mut stage = Stage::in_episode("# %%\n1\n");
    stage.steps = 1;
    stage.cell("ok", 1);
    assert_eq!(stage.ended(), None);
    stage.steps = 0;
    stage.call(40, true);
    assert_eq!(stage.ended(), Some(Reason::Success));

    let mut stage = Stage::in_episode("# %%\n1\n");
    stage.steps = 1;
    stage.cell("ok", 1);
    stage.wait(1.0);
    assert_eq!(stage.ended(), Some(Reason::PolicyFinished), "it does not come");
    let data = json!({ "episode": 0, "complete": true, "success": true, "terminated": true, "control_step": 40 });
    stage.event("recorder", event::RECORDED, data);
    let episode = &stage.result().episodes[0];
    assert!(episode.environment_success, "the recorder has seen it");
    assert_eq!((episode.reason, episode.env_steps), (Some(Reason::Success), 40));
}

#[test]
fn cells_that_fail_or_finish_end_a_script() {
    for (status, reason) in [
        ("error", Reason::CellError),
        ("timeout", Reason::CellError),
        ("crashed", Reason::CellError),
        ("finished", Reason::Finish),
    ] {
        let mut stage = Stage::in_episode("# %%\n1\n# %%\n2\n");
        stage.cell(status, 0);
        assert_eq!(stage.ended(), Some(reason), "{status}");
        stage.recorded(0);
        assert_eq!(stage.result().status, Status::Completed);
    }
}

#[test]
fn truncation_is_told_from_success() {
    let mut stage = Stage::in_episode("# %%\n1\n# %%\n2\n");
    let observation = Observation { control_step: 300, truncated: true, ..Observation::default() };
    stage
        .session
        .call_result(stage.now, &CallResult { step: 1, observation, ..CallResult::default() });
    stage.cell("episode_finished", 0);
    assert_eq!(stage.ended(), Some(Reason::Truncated));
}

#[test]
fn several_episodes_run_one_after_the_other_with_their_seeds() {
    let mut stage = Stage::new(asked("1\n", 3));
    stage.all_ready();
    for episode in 0..3 {
        stage.card();
        assert_eq!(
            stage.sent(|o| if let Out::Reset(r) = o { Some(r.seed) } else { None }),
            10 + u64::from(episode)
        );
        stage.steps = 0;
        stage.call(5, episode == 1);
        stage.cell("ok", 1);
        assert!(!stage.said_goodbye());
        stage.recorded(episode);
    }
    assert!(stage.said_goodbye());
    let result = stage.result();
    assert_eq!(result.seeds, [10, 11, 12]);
    let reasons: Vec<_> = result.episodes.iter().filter_map(|e| e.reason).collect();
    assert_eq!(reasons, [Reason::PolicyFinished, Reason::Success, Reason::PolicyFinished]);
    assert_eq!(
        (result.status, result.environment_success, result.env_steps),
        (Status::Completed, false, 15)
    );
    let begun = |o: &Out| matches!(o, Out::Begin { .. });
    assert_eq!(stage.count(begun), 3);
}

#[test]
fn nodes_are_called_until_all_answer_and_the_missing_one_is_named() {
    let mut stage = Stage::new(asked("1\n", 1));
    stage.wait(0.2);
    stage.wait(0.2);
    assert_eq!(stage.count(|o| *o == Out::Call), 3);
    for node in ["libero", "controller", "recorder"] {
        stage.event(node, event::READY, json!({}));
    }
    stage.wait(15.0);
    assert!(stage.said_goodbye());
    let error = stage.result().error.clone().unwrap();
    assert_eq!(error.node, "cell-runner");
    assert!(error.message.contains("\"cell-runner\""), "{}", error.message);
    assert_eq!(stage.result().status, Status::Failed);
}

#[test]
fn a_reset_is_repeated_and_its_refusal_ends_the_run() {
    let mut stage = Stage::new(asked("1\n", 1));
    stage.all_ready();
    stage.wait(5.0);
    assert_eq!(stage.count(|o| matches!(o, Out::Reset(_))), 2);
    stage.session.card(stage.now, Card { id: "another".into(), ..Card::default() });
    stage.settle();
    assert_eq!(stage.ended(), None);
    let id = stage.sent(|o| if let Out::Reset(reset) = o { Some(reset.id.clone()) } else { None });
    stage
        .session
        .card(stage.now, Card { id, error: "unknown suite \"x\"".into(), ..Card::default() });
    stage.settle();
    assert_eq!(stage.ended(), Some(Reason::Error));
    stage.recorded(0);
    let error = stage.result().error.clone().unwrap();
    assert_eq!((error.node.as_str(), error.message.as_str()), ("libero", "unknown suite \"x\""));
}

#[test]
fn a_robot_that_never_answers_a_reset_is_named() {
    let mut stage = Stage::new(asked("1\n", 1));
    stage.all_ready();
    for _ in 0..30 {
        stage.wait(5.0);
    }
    assert_eq!(stage.result().error.as_ref().unwrap().node, "libero");
}

#[test]
fn another_robot_than_the_one_asked_for_is_refused() {
    let mut stage = Stage::new(asked("1\n", 1));
    stage.all_ready();
    let id = stage.sent(|o| if let Out::Reset(reset) = o { Some(reset.id.clone()) } else { None });
    stage.session.card(stage.now, Card { id, robot: "template".into(), ..Card::default() });
    stage.settle();
    let message = stage.result().episodes[0].error.clone().unwrap().message;
    assert!(message.contains("libero") && message.contains("template"), "{message}");
}

#[test]
fn a_dead_node_fails_the_run_whatever_happens() {
    for node in ["libero", "cell-runner", "controller"] {
        let mut stage = Stage::in_episode("# %%\n1\n# %%\n2\n");
        stage.call(7, false);
        stage.gone(node);
        assert_eq!(stage.ended(), Some(Reason::NodeDied));
        stage.gone("controller");
        stage.recorded(0);
        assert!(stage.said_goodbye());
        let result = stage.result();
        assert_eq!((result.status, result.reason), (Status::Failed, Some(Reason::NodeDied)));
        assert_eq!(result.error.as_ref().unwrap().node, node);
        assert_eq!((result.env_steps, result.calls), (7, 1));
    }
}

#[test]
fn without_a_recorder_nobody_is_waited_for() {
    let mut stage = Stage::in_episode("1\n");
    stage.gone("recorder");
    assert!(stage.said_goodbye());
    assert_eq!(stage.result().error.as_ref().unwrap().node, "recorder");

    let mut stage = Stage::in_episode("1\n");
    stage.cell("ok", 0);
    stage.gone("recorder");
    assert!(stage.said_goodbye());
    assert_eq!(stage.result().status, Status::Failed);
}

#[test]
fn a_recorder_that_does_not_confirm_fails_the_run() {
    let mut stage = Stage::in_episode("1\n");
    stage.cell("ok", 0);
    stage.wait(RECORDED_LIMIT.as_secs_f64() - 0.1);
    assert!(!stage.said_goodbye());
    stage.wait(0.2);
    assert!(stage.said_goodbye());
    let result = stage.result();
    assert_eq!(
        (result.status, result.error.as_ref().unwrap().node.as_str()),
        (Status::Failed, "recorder")
    );
    assert!(!result.episodes[0].recorded);
}

#[test]
fn a_full_disk_ends_the_run_and_no_next_episode_begins() {
    let mut stage = Stage::new(asked("1\n", 2));
    stage.all_ready();
    stage.card();
    stage.event("recorder", event::ERROR, json!({}));
    assert_eq!(stage.ended(), Some(Reason::Error));
    stage.event("recorder", event::RECORDED, json!({ "episode": 0, "complete": false }));
    assert!(stage.said_goodbye());
    let error = stage.result().error.clone().unwrap();
    assert_eq!((error.node.as_str(), error.message.as_str()), ("recorder", "why"));
    assert_eq!(stage.result().episodes.len(), 1);
}

#[test]
fn a_persons_stop_ends_the_run_as_interrupted() {
    for kind in [event::STOPPED, event::STOP] {
        let mut stage = Stage::new(asked("1\n", 2));
        stage.all_ready();
        stage.card();
        stage.event("controller", kind, json!({}));
        assert_eq!(stage.ended(), Some(Reason::Stopped));
        stage.cell("cancelled", 0);
        stage.recorded(0);
        assert!(stage.said_goodbye());
        assert_eq!(
            (stage.result().status, stage.result().episodes.len()),
            (Status::Interrupted, 1)
        );
    }
}

#[test]
fn dora_stopping_leaves_a_finished_result_at_once() {
    let mut stage = Stage::in_episode("1\n");
    stage.call(9, false);
    stage.session.stop(stage.now);
    stage.settle();
    assert!(stage.session.has_left());
    let result = stage.result();
    assert_eq!(
        (result.status, result.reason, result.env_steps),
        (Status::Interrupted, Some(Reason::Stopped), 9)
    );
    assert_eq!(result.episodes[0].status, Status::Interrupted);
}

#[test]
fn wall_clock_time_limits_cells_and_thinking() {
    let mut stage = Stage::in_episode("# %%\n1\n# %%\n2\n# %%\n3\n");
    let timeout = |stage: &Stage| {
        stage.sent(|o| if let Out::Cell(cell) = o { Some(cell.timeout_ms) } else { None })
    };
    assert_eq!(timeout(&stage), 60_000);
    stage.wait(50.0);
    stage.cell("ok", 0);
    assert_eq!(timeout(&stage), 50_000, "what is left of the budget");
    stage.wait(50.0);
    stage.cell("timeout", 0);
    assert_eq!(stage.ended(), Some(Reason::Budget));
}

fn ended(ending: Ending, spent: Option<Limit>) -> Saying {
    Saying::Ended { ending: Ok(ending), spent }
}

fn finished() -> Ending {
    Ending::Finished { status: "stuck".into(), summary: "no way".into() }
}

#[test]
fn an_agent_whose_time_is_up_may_still_say_finish() {
    let mut stage = Stage::thinking();
    stage.wait(100.0);
    assert_eq!(stage.ended(), None, "it has its last words");
    let over =
        stage.sent(|o| if let Out::Answer(answer) = o { answer.clone().err() } else { None });
    assert_eq!(over.why, Why::Budget(Limit::Time));
    stage.say(Saying::Cell { code: "2".into(), title: String::new(), fresh: false });
    assert_eq!(stage.count(|o| matches!(o, Out::Cell(_))), 0, "the robot holds");
    stage.say(ended(finished(), Some(Limit::Time)));
    assert_eq!(stage.ended(), Some(Reason::Budget));
    stage.recorded(0);
    let episode = &stage.result().episodes[0];
    assert_eq!(episode.finish.as_ref().unwrap().status, "stuck");
    assert_eq!(episode.limit.as_deref(), Some("time"));
}

#[test]
fn a_slow_backend_does_not_outlast_its_last_words() {
    let mut stage = Stage::thinking();
    stage.wait(100.0);
    stage.wait(LAST_WORDS.as_secs_f64() - 0.1);
    assert_eq!(stage.ended(), None);
    stage.wait(0.1);
    assert_eq!(stage.ended(), Some(Reason::Budget));
    stage.say(ended(finished(), None));
    assert_eq!(stage.result().episodes[0].finish, None, "too late");
}

#[test]
fn waiting_for_a_provider_is_not_the_agents_time() {
    let mut stage = Stage::thinking();
    stage.wait(99.0);
    stage.session.control().add_waited(Duration::from_secs(50));
    stage.wait(50.0);
    let cell = Saying::Cell { code: "1".into(), title: String::new(), fresh: false };
    stage.say(cell);
    assert_eq!(stage.count(|o| matches!(o, Out::Cell(_))), 1);
}

#[test]
fn an_agent_ends_an_episode_in_its_own_ways() {
    for (ending, spent, reason) in [
        (finished(), None, Reason::Finish),
        (finished(), Some(Limit::Tokens), Reason::Budget),
        (Ending::Over, Some(Limit::Money), Reason::Budget),
        (Ending::GaveUp { why: "it refused".into() }, None, Reason::GaveUp),
        (Ending::Played, None, Reason::PolicyFinished),
    ] {
        let mut stage = Stage::thinking();
        stage.say(ended(ending.clone(), spent));
        assert_eq!(stage.ended(), Some(reason), "{ending:?}");
        stage.recorded(0);
        let result = stage.result();
        assert_eq!(result.status, Status::Completed);
        assert_eq!(result.episodes[0].limit.as_deref(), spent.map(Limit::word));
        assert_eq!(result.episodes[0].finish.is_some(), ending == finished());
    }
}

#[test]
fn control_steps_that_are_used_up_leave_a_last_word() {
    let mut stage = Stage::thinking();
    stage.say(Saying::Cell { code: "1".into(), title: String::new(), fresh: false });
    let observation = Observation { control_step: 300, truncated: true, ..Observation::default() };
    let end = CallResult { step: 1, observation, ..CallResult::default() };
    stage.session.call_result(stage.now, &end);
    stage.cell("episode_finished", 0);
    assert_eq!(stage.ended(), None);
    stage.say(ended(finished(), Some(Limit::Steps)));
    assert_eq!(stage.ended(), Some(Reason::Truncated));
    assert_eq!(stage.result().episodes[0].limit.as_deref(), Some("steps"));
}

#[test]
fn what_was_spent_is_on_the_bill_also_when_it_comes_late() {
    let mut stage = Stage::thinking();
    let bill = |model_calls| Bill { model_calls, dollars: Some(0.5), ..Bill::default() };
    let spent = |model_calls| Saying::Spent { bill: Box::new(bill(model_calls)), what: None };
    stage.say(spent(1));
    assert_eq!(stage.result().bill, bill(1));
    stage.say(ended(finished(), None));
    stage.say(spent(2));
    stage.recorded(0);
    assert_eq!(stage.result().bill, bill(2));
}

#[test]
fn a_running_cell_can_be_skipped() {
    let mut stage = Stage::thinking();
    stage.say(Saying::Interrupt);
    assert_eq!(stage.count(|o| *o == Out::Skip), 0, "nothing runs");
    stage.say(Saying::Cell { code: "1".into(), title: String::new(), fresh: true });
    assert!(stage.sent(|o| if let Out::Cell(cell) = o { Some(cell.fresh) } else { None }));
    stage.say(Saying::Interrupt);
    assert_eq!(stage.count(|o| *o == Out::Skip), 1);
    stage.cell("cancelled", 0);
    let answer =
        stage.sent(|o| if let Out::Answer(answer) = o { answer.clone().ok() } else { None });
    assert_eq!(answer.status, "cancelled", "the episode goes on");
}

#[test]
fn a_cell_runner_that_does_not_answer_is_named() {
    let mut stage = Stage::in_episode("1\n");
    stage.call(3, false);
    stage.wait(64.9);
    assert_eq!(stage.ended(), None);
    stage.wait(0.1);
    assert_eq!(stage.ended(), Some(Reason::NodeDied));
    stage.recorded(0);
    assert_eq!(stage.result().error.as_ref().unwrap().node, "cell-runner");
    assert_eq!(stage.result().calls, 1, "its calls count all the same");
}

#[test]
fn a_backend_that_fails_ends_the_run_with_its_words() {
    let mut stage = Stage::thinking();
    stage.say(Saying::Ended { ending: Err("no credit left".into()), spent: None });
    stage.recorded(0);
    let error = stage.result().error.clone().unwrap();
    assert_eq!((error.node.as_str(), error.message.as_str()), ("planner", "no credit left"));
}

#[test]
fn progress_is_told_at_most_ten_times_a_second() {
    let mut stage = Stage::in_episode("1\n");
    for step in 0..50 {
        stage.call(step, false);
        stage.wait(0.01);
    }
    let told = stage.count(|o| matches!(o, Out::Tell(Happening::Progress { .. })));
    assert!((4..=6).contains(&told), "{told}");
}

#[test]
fn warnings_are_kept_and_bounded() {
    let mut stage = Stage::in_episode("1\n");
    for _ in 0..300 {
        stage.event("libero", event::WARNING, json!({}));
    }
    assert_eq!(stage.result().warnings.len(), MAX_WARNINGS);
    assert_eq!(stage.result().warnings[0].node, "libero");
}

#[test]
fn an_old_answer_of_an_earlier_episode_changes_nothing() {
    let mut stage = Stage::new(asked("1\n", 2));
    stage.all_ready();
    stage.card();
    stage.cell("ok", 0);
    stage.recorded(0);
    stage.card();
    let old =
        CellResult { id: "r-0-cell-1".into(), status: "error".into(), ..CellResult::default() };
    stage.session.cell_result(stage.now, old);
    stage.recorded(0);
    assert!(matches!(stage.session.state, State::Running { .. }));
    assert_eq!(stage.result().episodes[1].cells, 0);
}

#[test]
fn settings_reach_the_result() {
    let settings = Settings::fixed([("POLICY", "/nowhere.py")]);
    assert!(Asked::read(&settings, std::path::Path::new("/"), SystemTime::UNIX_EPOCH).is_err());
    let stage = Stage::in_episode("1\n");
    let result = stage.result();
    assert_eq!(
        (result.suite.as_str(), result.task, result.seed, result.settle),
        ("libero_spatial", 2, 10, 15)
    );
    assert_eq!((result.budget_s, result.max_episode_steps), (100.0, 300));
    assert_eq!(result.task_language, "lift");
    assert_eq!(result.status, Status::Running);
}
