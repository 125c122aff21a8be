//! What agents read, word for word, and that it is true of the run.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::time::Duration;

use ruaflow_prompt::{Arm, Budgets, Rules, card, guides, system, tokens, tools};
use ruaflow_robots::{Feedback, Images, Primitives, RobotApi};
use ruaflow_schemas::Card;

/// Tokens of the reference system's contract, API reference and knowledge together.
const REFERENCE_TOKENS: usize = 6_500;

fn libero() -> &'static RobotApi {
    ruaflow_robots::find("libero").unwrap()
}

fn task() -> Card {
    Card {
        robot: "libero".into(),
        instruction: "pick up the black bowl and place it on the plate".into(),
        object_names: vec!["akita_black_bowl_1".into(), "plate_1".into()],
        control_hz: 20.0,
        max_control_steps: 300,
        ..Card::default()
    }
}

fn rules(arm: Arm) -> Rules {
    Rules {
        arm,
        cell_timeout: Some(Duration::from_secs(120)),
        budgets: Budgets { time: Some(Duration::from_secs(1200)), ..Budgets::default() },
        show_budgets: true,
        vla: true,
        ..Rules::default()
    }
}

/// Every combination of what a prompt depends on.
fn all_rules() -> Vec<Rules> {
    let mut all = Vec::new();
    for arm in Arm::ALL {
        for feedback in Feedback::ALL {
            for images in Images::ALL {
                for primitives in Primitives::ALL {
                    for switches in 0..32 {
                        let on = |switch: u32| switches & (1 << switch) != 0;
                        all.push(Rules {
                            feedback,
                            images,
                            primitives,
                            guides: on(0),
                            perception: on(1),
                            vla: on(2),
                            transfer: on(3),
                            show_budgets: on(4),
                            ..rules(arm)
                        });
                    }
                }
            }
        }
    }
    all
}

#[test]
fn prompts_are_what_was_reviewed() {
    for arm in Arm::ALL {
        let rules = rules(arm);
        let made = format!("{}\n---\n\n{}", system(libero(), &rules), card(&task(), &rules));
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join(format!("tests/snapshots/libero.{arm}.md"));
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &made).unwrap();
        }
        let reviewed = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(made, reviewed, "{arm}: look at it and run again with UPDATE_SNAPSHOTS=1");
    }
}

#[test]
fn the_default_prompt_is_lean() {
    let count = tokens(&system(libero(), &Rules { perception: true, ..rules(Arm::Cells) }));
    assert!(count * 10 <= REFERENCE_TOKENS * 7, "{count} tokens");
}

#[test]
fn a_prompt_is_the_same_every_time() {
    for rules in all_rules() {
        assert_eq!(system(libero(), &rules), system(libero(), &rules));
        assert_eq!(tools(libero(), &rules), tools(libero(), &rules));
    }
}

#[test]
fn no_sentence_promises_what_the_run_does_not_do() {
    for rules in all_rules() {
        let names: Vec<String> = tools(libero(), &rules).into_iter().map(|t| t.name).collect();
        let text = system(libero(), &rules);
        let all = format!("{text}{}", card(&task(), &rules));
        let says = |words: &str| all.contains(words);
        let code = rules.arm == Arm::Cells || rules.arm == Arm::Program;
        assert_eq!(says("guides/"), rules.guides && code, "{rules:?}");
        assert_eq!(says("only an example"), rules.transfer, "{rules:?}");
        assert_eq!(says("Budget:"), rules.show_budgets, "{rules:?}");
        let skills = rules.vla && rules.primitives == Primitives::Full;
        assert_eq!(says("pi0_pick"), skills, "{rules:?}");
        assert_eq!(
            says("calls made with their outcomes"),
            code && rules.feedback == Feedback::Rich
        );
        let sees = rules.images != Images::None && rules.arm != Arm::SingleShot;
        let shows = says("robo.show") || names.iter().any(|name| name == "show");
        assert_eq!(shows, sees, "{rules:?}");
        assert_eq!(
            says("camera's picture after a motion"),
            code && rules.images == Images::OnMotion
        );
        let finds = says("segment(") || names.iter().any(|name| name == "segment");
        assert_eq!(finds, rules.perception, "{rules:?}");
        assert_eq!(says("Segment("), rules.perception, "{rules:?}");
        assert!(rules.perception || !says("segment_"), "{rules:?}");
        assert_eq!(says("robo.done"), rules.arm != Arm::Tools, "{rules:?}");
        assert_eq!(says("`python` call"), rules.arm == Arm::Cells);
        assert_eq!(says("`run_program` call"), rules.arm == Arm::Program);
        assert_eq!(says("workspace folder"), code, "{rules:?}");
        assert_eq!(names.last().is_some_and(|name| name == "finish"), rules.arm != Arm::SingleShot);
        assert_eq!(says("finish"), rules.arm != Arm::SingleShot, "{rules:?}");
    }
}

#[test]
fn budgets_are_told_or_hidden() {
    let mut rules = rules(Arm::Cells);
    rules.budgets = Budgets {
        turns: Some(40),
        calls: Some(1),
        tokens: Some(500_000),
        dollars: Some(0.5),
        ..rules.budgets
    };
    let text = card(&task(), &rules);
    for part in ["1200 s of", "300 control steps", "40 cells", "1 reply", "500000 tokens", "$0.5"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    rules.show_budgets = false;
    let text = card(&task(), &rules);
    assert!(!text.contains("1200") && !text.contains("300"), "{text}");
}

#[test]
fn guides_are_known_by_their_hashes() {
    assert!(guides(libero(), &rules(Arm::Cells)).is_empty());
    let given = guides(libero(), &Rules { guides: true, ..rules(Arm::Cells) });
    assert!(given.len() >= 3);
    for guide in given {
        assert_eq!(guide.sha256.len(), 64);
        assert!(guide.text.lines().count() > 5, "{}", guide.name);
    }
}

#[test]
fn every_robot_has_prompts() {
    for api in ruaflow_robots::ALL {
        for rules in all_rules() {
            assert!(system(api, &rules).contains(api.name));
        }
    }
}
