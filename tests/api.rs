//! Every method of a robot, called by cells in a whole run.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use end_to_end::{Place, Records, root};
use ruaflow_record::{Reason, Status};
use ruaflow_robots::RobotApi;
use ruaflow_schemas::CellResult;

/// Looks at the made-up arm in every way its API has.
const TEMPLATE: &str = r#"
# %% look
meta = robo.camera_meta()
print(meta["camera_name"], meta["width"], meta["height"])
img, world = robo.image(), robo.world_map("front", resolution=(64, 48))
print(img.shape, img.dtype, world.shape, world.dtype)
p = robo.back_project(300, 320)
print("floor" if abs(p.world_xyz[2]) < 1.0 else p.world_xyz)
r = robo.region_center((200, 280), (280, 360))
print("points", r.n_valid > 8)
robo.show(size=(160, 120), crop=(20, 30, 60, 110))
print("png", len(robo.artifact("front.png")) > 100)
try:
    robo.segment("the ball")  # whether there are eyes to find it is the run's affair
except ToolError:
    pass
# %% move
home = robo.state().eef_pos
up = robo.move_to([home[0], home[1], home[2] + 0.1])
robo.set_gripper(robo.CLOSE, steps=3)
robo.release()
then, now = robo.image(resolution="low", step=0), robo.image(resolution="low")
print("moved", robo.state().step, bool((then != now).any()))
robo.show()
"#;

fn ledger(records: &Records) -> BTreeSet<String> {
    let cells = records.rows::<CellResult>(0);
    cells.iter().flat_map(|cell| &cell.ledger).map(|call| call.method.clone()).collect()
}

fn methods(api: &RobotApi) -> BTreeSet<String> {
    api.methods.iter().map(|method| method.name.to_owned()).collect()
}

#[test]
fn the_template_robot_can_be_looked_at() {
    let place = Place::default();
    place.run(place.play(TEMPLATE, [])).assert_code(0);
    let records = place.records();
    let cells = records.rows::<CellResult>(0);
    assert_eq!(
        cells[0].stdout,
        "front 320 240\n(480, 640, 3) uint8 (48, 64, 3) float32\nfloor\npoints True\n\
         png True\n",
        "{}",
        cells[0].error
    );
    assert_eq!(cells[1].stdout, "moved 3 True\n", "{}", cells[1].error);
    let sizes: Vec<_> = cells.iter().flat_map(|c| &c.images).map(|p| (p.width, p.height)).collect();
    assert_eq!(sizes, [(80, 40), (640, 480)]);
    assert_eq!(ledger(&records), methods(ruaflow_robots::find("template").unwrap()));
}

#[test]
fn on_motion_every_camera_is_shown_after_a_cell_that_moved() {
    let place = Place::default();
    let policy = "# %%\nrobo.state()\n# %%\nrobo.release()\n";
    place.run(place.play(policy, ["--images", "on-motion"])).assert_code(0);
    let cells = place.records().rows::<CellResult>(0);
    let names: Vec<Vec<&str>> =
        cells.iter().map(|cell| cell.images.iter().map(|p| p.name.as_str()).collect()).collect();
    assert_eq!(names, [vec![], vec!["front"]]);
}

/// Policies written for the reference system's robot, each with every method.
#[test]
fn policies_for_the_reference_robot_run_unchanged() {
    let libero = methods(ruaflow_robots::find("libero").unwrap());
    for policy in ["bowl_on_plate", "survey", "grasp_with_fallback"] {
        let place = Place::default();
        let file = root().join(format!("robots/policies/reference/{policy}.py"));
        let play =
            ["play", "--policy", file.to_str().unwrap(), "--out", "out", "--pictures", "off"];
        let ended = place.run(place.rua(play));
        ended.assert_code(0);
        place.assert_nothing_left();
        let records = place.records();
        let cells = records.rows::<CellResult>(0);
        let errors: Vec<&str> = cells.iter().map(|cell| cell.error.as_str()).collect();
        let result = records.result();
        assert_eq!(result.status, Status::Completed, "{policy}: {errors:?}");
        let ends = [Some(Reason::PolicyFinished), Some(Reason::Finish), Some(Reason::Success)];
        assert!(ends.contains(&result.reason), "{policy}: {:?} {errors:?}", result.reason);
        assert!(cells.iter().any(|cell| !cell.images.is_empty()), "{policy} showed nothing");
        assert_eq!(ledger(&records), libero, "{policy}");
    }
}
