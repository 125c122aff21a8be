//! `rua eval`: a campaign that is killed goes on, and every episode counts once.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use end_to_end::{Place, wait_until};
use rustix::process::Signal;
use serde_json::Value;

const EPISODES: usize = 6;

/// Two control steps, and no success.
const SHORT: &str = "# %% close\nrobo.set_gripper(1, steps=2)\n";

fn plan(place: &Place) -> String {
    let policy = place.write("short.py", SHORT).display().to_string();
    let text = format!(
        "suites: libero_spatial\ntasks: [0, 1]\nseeds: 0-2\nworkers: 2\n\
         settings: {{planner: script, policy: {policy:?}, pictures: \"off\", perception: none}}\n\
         players: {{short: {{}}}}\n"
    );
    place.write("plan.yml", &text).display().to_string()
}

fn trials(place: &Place, campaign: &str) -> Vec<Value> {
    let ended = place.run(place.rua(["summarize", campaign, "--json"]));
    ended.assert_code(0);
    let read: Value = serde_json::from_str(&ended.out).unwrap();
    read["episodes"].as_array().unwrap().clone()
}

#[test]
fn a_killed_campaign_goes_on_and_counts_every_episode_once() {
    let place = Place::default();
    let plan = plan(&place);
    let campaign = place.path("campaign").display().to_string();

    let first = place.start(place.rua(["eval", &plan, "--out", &campaign]));
    wait_until("an episode has ended", || first.printed().contains("1/6 "));
    // Two on one folder would play everything twice.
    place.run(place.rua(["eval", &plan, "--out", &campaign])).assert_error(&["another", "at work"]);
    first.signal(Signal::KILL);
    first.wait();

    let second = place.run(place.rua(["eval", &plan, "--out", &campaign]));
    second.assert_code(0);
    assert!(second.out.contains("0 / 6"), "{second}");
    let trials = trials(&place, &campaign);
    let scenes: BTreeSet<String> = trials.iter().map(|trial| trial["key"].to_string()).collect();
    assert_eq!((trials.len(), scenes.len()), (EPISODES, EPISODES), "{trials:?}");
    assert!(trials.iter().all(|trial| trial["cause"] == "policy_finished"), "{trials:?}");
    place.assert_nothing_left();

    // Nothing is left, so nothing is played.
    let third = place.run(place.rua(["eval", &plan, "--out", &campaign]));
    third.assert_code(0);
    assert!(!third.out.contains("6/6 "), "{third}");

    let page = place.path("page.html").display().to_string();
    place.run(place.rua(["report", &campaign, "--out", &page])).assert_code(0);
    assert!(std::fs::read_to_string(&page).unwrap().contains("libero_spatial"));
    let left = format!("{campaign}@short");
    let same = place.run(place.rua(["compare", &left, &left]));
    same.assert_code(0);
    assert!(same.out.contains("neither 6"), "{same}");
}

#[test]
fn a_plan_with_a_typo_is_refused_with_the_nearest_name() {
    let place = Place::default();
    for (text, want) in [
        ("suites: [libero_spatail]", "did you mean \"libero_spatial\"?"),
        ("suites: libero_spatial\nsetings: {}", "did you mean \"settings\"?"),
        ("suites: libero_spatial\nsettings: {plannner: script}", "plannner"),
    ] {
        let plan = place.write("plan.yml", text).display().to_string();
        let ended = place.run(place.rua(["eval", &plan, "--dry-run"]));
        ended.assert_code(2);
        assert!(ended.err.contains(want), "{ended}");
    }
}

#[test]
fn what_a_plan_takes_on_disk_is_known_before_it_starts() {
    let place = Place::default();
    let text = "suites: libero_spatial\nsettings: {record: light, max_steps: 300}\n";
    let plan = place.write("plan.yml", text).display().to_string();
    let ended = place.run(place.rua(["eval", &plan, "--dry-run"]));
    ended.assert_code(0);
    for words in ["recorded light", "10 x 300 steps", "free"] {
        assert!(ended.out.contains(words), "no {words:?}; {ended}");
    }
    assert!(!place.path("evals").exists());
}
