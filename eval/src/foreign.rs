//! Runs of the systems that RuaFlow is compared with.
//!
//! Sources: the `result.json` of PyRUA-Lean's schema `pyrualean-episode-v2`, and
//! `transcript_*.json` with `states.json` of an RPent run on LIBERO.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::trial::{Key, Numbers, Outcome, Trial};

pub const PYRUALEAN: &str = "pyrualean-episode-v2";

/// Control steps of one action chunk of RPent's VLA policy on LIBERO.
const CHUNK_STEPS: f64 = 5.0;

/// A result of PyRUA-Lean. There a crash, a timeout and a failed start count as
/// failures of the agent; only an error of the planner's provider does not.
pub fn pyrualean(folder: &Path, value: &Value) -> Trial {
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let usage = &value["generation"];
    let arm = text("arm");
    let status = text("status");
    let outcome = match (value["environment_success"].as_bool(), status.as_str()) {
        (Some(true), _) => Outcome::Solved,
        (_, "planner_error" | "boot_error") => Outcome::Infrastructure,
        _ => Outcome::Failed,
    };
    let turns = if arm.is_empty() { number(&usage["turns"]) } else { number(&value["tool_turns"]) };
    Trial {
        key: Key {
            robot: first(&[&value["robot"], &value["backend"]], "libero"),
            suite: text("suite"),
            task: plain(&value["task"]),
            seed: value["seed"].as_u64().unwrap_or_default(),
            repeat: 0,
        },
        system: if arm.is_empty() { "pyrualean".to_owned() } else { format!("pyrualean:{arm}") },
        planner: "pyrualean".to_owned(),
        model: text("model"),
        outcome,
        cause: status,
        numbers: Numbers {
            turns,
            calls: number(&value["calls"]),
            steps: number(&value["env_steps"]),
            cells: turns,
            seconds: number(&value["policy_wall_s"]),
            input_tokens: number(&usage["input_tokens"]),
            cached_tokens: number(&usage["cached_input_tokens"]),
            output_tokens: number(&usage["output_tokens"]),
            dollars: number(&usage["total_cost_usd"]),
        },
        spent: None,
        source: folder.to_owned(),
        episode: 0,
    }
}

/// A run of RPent's planner; `None` for a folder that is none.
pub fn rpent(folder: &Path) -> Option<Result<Trial, String>> {
    let transcript = match transcripts(folder).as_slice() {
        [] => return None,
        [one] => one.clone(),
        several => return Some(Err(format!("it has {} transcripts, not one", several.len()))),
    };
    Some(read_rpent(folder, &transcript))
}

fn transcripts(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("transcript_") && name.ends_with(".json")
        })
        .collect()
}

fn read_rpent(folder: &Path, transcript: &Path) -> Result<Trial, String> {
    let record = json(transcript)?;
    let states = folder.join("states.json");
    let steps = if states.exists() { json(&states)? } else { Value::Null };
    let steps = steps["steps"].as_array();
    let outcome = match steps {
        Some(steps) if steps.iter().any(|s| s["terminated"] == true) => Outcome::Solved,
        Some(steps) if steps.last().is_some_and(|s| s["terminated"].is_boolean()) => {
            Outcome::Failed
        }
        _ => Outcome::Unknown,
    };
    let stats = &record["stats"];
    let read = number(&stats["total_cache_read_input_tokens"]);
    let fresh = number(&stats["total_input_tokens"]);
    // One of its planners counts cached tokens apart, the others among the input.
    let (input, cached) = match read {
        Some(read) => {
            let written = number(&stats["total_cache_creation_input_tokens"]).unwrap_or(0.0);
            (Some(fresh.unwrap_or(0.0) + read + written), Some(read))
        }
        None => (fresh, number(&stats["total_cached_input_tokens"])),
    };
    Ok(Trial {
        key: Key {
            robot: first(&[&record["env"]], "libero"),
            suite: plain(&record["suite"]),
            task: plain(&record["task"]),
            seed: record["seed"].as_u64().unwrap_or_default(),
            repeat: 0,
        },
        system: "rpent".to_owned(),
        planner: "rpent".to_owned(),
        model: plain(&record["model"]),
        outcome,
        cause: first(&[&record["finish"]["status"]], "no finish"),
        numbers: Numbers {
            turns: number(&stats["turns_used"]),
            calls: number(&stats["tool_calls"]),
            steps: steps.map(|steps| steps.iter().map(control_steps).sum()),
            cells: None,
            seconds: number(&stats["elapsed_s"]).or_else(|| number(&record["elapsed_s"])),
            input_tokens: input,
            cached_tokens: cached,
            output_tokens: number(&stats["total_output_tokens"]),
            dollars: None,
        },
        spent: None,
        source: folder.to_owned(),
        episode: 0,
    })
}

/// Control steps of one recorded call. RPent's servos count the check that finds
/// them arrived as a step.
fn control_steps(step: &Value) -> f64 {
    let (command, result) = (&step["command"], &step["result"]);
    let used = number(&result["steps_used"]).unwrap_or(0.0);
    match command["action"].as_str() {
        None => 0.0,
        Some("pi0_pick" | "pi0_doubled") => {
            number(&result["chunks_used"]).unwrap_or(0.0) * CHUNK_STEPS
        }
        Some("set_gripper") => {
            number(&result["steps"]).or_else(|| number(&command["steps"])).unwrap_or(5.0)
        }
        Some("move_to" | "move_pose") => {
            used - arrived(&result["final_dist_m"], &command["tol"], 0.012, used)
        }
        Some("rotate_wrist" | "rotate_pitch") => {
            used - arrived(&result["final_err"], &command["tol"], 0.02, used)
        }
        Some(_) => used,
    }
}

fn arrived(left: &Value, tol: &Value, default: f64, used: f64) -> f64 {
    let within = number(left).is_some_and(|left| left.abs() < number(tol).unwrap_or(default));
    f64::from(u8::from(within && used > 0.0))
}

fn json(path: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{path:?}: {e}"))?;
    serde_json::from_str(&text).map_err(|e| format!("{path:?}: {e}"))
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite())
}

/// Text without quotes, a number as it is written, nothing for the rest.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

fn first(values: &[&Value], default: &str) -> String {
    let text = values.iter().find_map(|value| value.as_str().filter(|text| !text.is_empty()));
    text.unwrap_or(default).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_result_of_pyrualean_is_read() {
        let value = json!({
            "schema": PYRUALEAN, "arm": "cells", "backend": "libero", "suite": "libero_10", "task": 3,
            "seed": 2, "environment_success": true, "status": "completed", "calls": 9,
            "env_steps": 210, "tool_turns": 4, "policy_wall_s": 61.5,
            "generation": {"input_tokens": 90_000, "cached_input_tokens": 70_000, "output_tokens": 800},
        });
        let trial = pyrualean(Path::new("x"), &value);
        assert_eq!(trial.system, "pyrualean:cells");
        assert_eq!(trial.key.task, "3");
        assert!(trial.solved());
        assert_eq!(trial.numbers.turns, Some(4.0));
        assert_eq!(trial.numbers.input_tokens, Some(90_000.0));
        assert_eq!(trial.numbers.dollars, None);
    }

    #[test]
    fn a_planner_that_could_not_be_reached_is_infrastructure() {
        let value = json!({"environment_success": false, "status": "planner_error"});
        assert_eq!(pyrualean(Path::new("x"), &value).outcome, Outcome::Infrastructure);
    }

    #[test]
    fn steps_of_an_rpent_run_are_those_the_simulator_made() {
        let dir = tempfile::tempdir().unwrap();
        let transcript = json!({"suite": "libero_object", "task": 1, "seed": 0, "finish": {"status": "success"},
            "stats": {"tool_calls": 4, "turns_used": 5, "total_input_tokens": 10,
                      "total_cache_read_input_tokens": 90, "total_output_tokens": 7}});
        let states = json!({"steps": [
            {"terminated": false},
            {"terminated": false, "command": {"action": "move_to"}, "result": {"steps_used": 15, "final_dist_m": 0.01}},
            {"terminated": false, "command": {"action": "move_to", "tol": 0.005}, "result": {"steps_used": 80, "final_dist_m": 0.01}},
            {"terminated": false, "command": {"action": "pi0_pick"}, "result": {"chunks_used": 6}},
            {"terminated": true, "command": {"action": "set_gripper"}, "result": {"steps": 8}},
        ]});
        fs::write(dir.path().join("transcript_a.json"), transcript.to_string()).unwrap();
        assert_eq!(rpent(dir.path()).unwrap().unwrap().outcome, Outcome::Unknown);
        fs::write(dir.path().join("states.json"), states.to_string()).unwrap();
        let trial = rpent(dir.path()).unwrap().unwrap();
        assert!(trial.solved());
        assert_eq!(trial.numbers.steps, Some(14.0 + 80.0 + 30.0 + 8.0));
        assert_eq!(trial.numbers.input_tokens, Some(100.0));
        fs::write(dir.path().join("transcript_b.json"), "{}").unwrap();
        assert!(rpent(dir.path()).unwrap().is_err());
    }
}
