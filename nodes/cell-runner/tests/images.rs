//! Which pictures an agent sees after a cell.
#![allow(clippy::unwrap_used)]

mod common;

use std::time::Duration;

use cell_runner::feedback::{Feedback, Images};
use common::seeing::Flow;
use ruaflow_robots::Primitives;
use ruaflow_schemas::CellResult;

/// The pictures that each of these cells leaves: name, control step and width.
fn shown(images: Images, cells: &[&str]) -> Vec<Vec<(String, u64, u32)>> {
    let mut flow = Flow::new();
    flow.runner.report(Feedback::Rich, images);
    let of = |result: CellResult| {
        assert_eq!(result.error, "");
        let pictures = result.images.into_iter();
        pictures.map(|p| (p.name, p.control_step, p.width)).collect()
    };
    cells.iter().map(|code| of(flow.run(code))).collect()
}

/// A cell that looks, two that move, one of which shows a picture before and after,
/// and one that makes a picture itself.
const LOOK_AND_MOVE: [&str; 4] = [
    "robo.image(resolution='low')",
    "robo.release()",
    "robo.show(); robo.release(); robo.show('wrist')",
    "display(np.zeros((4, 6, 3), dtype=np.uint8), 'mine')",
];

fn picture(name: &str, control_step: u64, width: u32) -> (String, u64, u32) {
    (name.to_owned(), control_step, width)
}

#[test]
fn on_motion_every_camera_is_shown_after_a_cell_that_moved() {
    let moved = |step| [picture("agentview", step, 1024), picture("wrist", step, 1024)];
    let [agentview, wrist] = moved(14);
    assert_eq!(
        shown(Images::OnMotion, &LOOK_AND_MOVE),
        [
            vec![],
            moved(7).to_vec(),
            // What the cell showed comes first, and nothing comes twice.
            vec![picture("agentview", 7, 1024), wrist, agentview],
            vec![picture("mine", 0, 6)],
        ]
    );
}

#[test]
fn on_demand_a_cell_shows_what_it_asks_for() {
    assert_eq!(
        shown(Images::OnDemand, &LOOK_AND_MOVE),
        [
            vec![],
            vec![],
            vec![picture("agentview", 7, 1024), picture("wrist", 14, 1024)],
            vec![picture("mine", 0, 6)],
        ]
    );
}

#[test]
fn with_no_images_only_what_a_cell_displays_is_shown() {
    assert_eq!(
        shown(Images::None, &LOOK_AND_MOVE),
        [vec![], vec![], vec![], vec![picture("mine", 0, 6)]]
    );
}

#[test]
fn on_motion_a_refused_call_shows_nothing_and_a_cancelled_one_does() {
    let mut flow = Flow::new();
    flow.runner.report(Feedback::Rich, Images::OnMotion);
    let refused = flow.run("robo.set_gripper(9)");
    assert!(refused.error.contains("ValueError") && refused.images.is_empty());

    flow.cancelled = true;
    let cancelled = flow.run("robo.release()");
    assert!(cancelled.error.contains("EpisodeFinished"), "{}", cancelled.error);
    let names: Vec<&str> = cancelled.images.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["agentview", "wrist"]);
    assert!(cancelled.feedback.ends_with("[pictures: agentview, wrist]\n"), "{cancelled:?}");
}

#[test]
fn on_motion_a_picture_that_cannot_be_made_is_told() {
    let mut flow = Flow::with(Primitives::Full, Duration::from_millis(100), &["libero"]);
    flow.runner.report(Feedback::Pure, Images::OnMotion);
    flow.pictures = false;
    let result = flow.run("robo.release()");
    assert_eq!((result.status.as_str(), result.images.len()), ("ok", 0));
    let silent = "node \"libero\" sent no picture within 0.1 s";
    assert_eq!(
        result.stderr,
        format!("(no picture of agentview: {silent})\n(no picture of wrist: {silent})\n")
    );
}
