//! Pictures of a scene. Without EGL on this machine these tests say so and pass.

use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use libero::data::Data;
use libero::egl::{self, EglDevice};
use libero::gl::Quality;
use libero::render::{Picture, RenderError, Renderer, Want};
use libero::scene::Scene;
use libero::sim::Simulator;

const ALL: Want = Want { depth: true, segmentation: true };

/// A GL context takes about a gigabyte, so these tests take turns.
static TURN: Mutex<()> = Mutex::new(());

fn my_turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn simulator(suite: &str, task: usize) -> Simulator {
    let data = Data::locate().expect("the LIBERO data; `./rua setup` fetches it");
    let mut sim =
        Simulator::new(Scene::load(&data, suite, task).expect("the scene")).expect("the simulator");
    sim.reset(0, 15).expect("a reset");
    sim
}

/// Says where it can be seen that something was not tested.
fn skipped(why: &dyn std::fmt::Display) {
    // Unlike `eprintln!`, this is not kept back.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// The result, or none with a word about it when this machine cannot render.
fn unless_no_egl<T>(result: Result<T, RenderError>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(RenderError::Egl(error)) => {
            skipped(&error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Where the centre of a pixel lies in the world, by the picture's depth.
fn back_project(picture: &Picture, row: u32, col: u32) -> [f64; 3] {
    let k = picture.intrinsics;
    let z = f64::from(picture.depth[(row * picture.width + col) as usize]);
    let camera = [
        (f64::from(col) + 0.5 - k[2]) / k[0] * z,
        (f64::from(row) + 0.5 - k[5]) / k[4] * z,
        z,
        1.0,
    ];
    let m = picture.camera_to_world;
    std::array::from_fn(|i| (0..4).map(|j| m[4 * i + j] * camera[j]).sum())
}

#[test]
fn both_cameras_see_the_scene_in_its_geometry() {
    let _turn = my_turn();
    let sim = simulator("libero_spatial", 0);
    let mut renderer = Renderer::new(sim.render_scene()).expect("a renderer");
    let instances = renderer.scene().instances().to_vec();
    assert_eq!(instances[0], "robot");
    for camera in ["agentview", "wrist"] {
        let Some(picture) = unless_no_egl(renderer.render(&sim.state(), camera, 64, 64, ALL))
        else {
            return;
        };
        assert_eq!((picture.color.len(), picture.depth.len()), (64 * 64 * 3, 64 * 64));
        let colors: std::collections::HashSet<&[u8]> = picture.color.chunks_exact(3).collect();
        assert!(colors.len() > 100, "{camera} shows {} colours", colors.len());
        assert!(picture.depth.iter().all(|&d| d.is_nan() || d > 0.0), "{camera}");
        assert!(picture.depth.iter().filter(|d| d.is_finite()).count() > 3000, "{camera}");
    }

    // The plate's own pixels lie where the plate is.
    let plate = sim.thing_position("plate_1").expect("a plate");
    let label = instances.iter().position(|name| name == "plate_1").expect("a plate") as u32 + 1;
    let picture = renderer.render(&sim.state(), "agentview", 256, 256, ALL).expect("a picture");
    let pixels = (0..256).flat_map(|row| (0..256).map(move |col| (row, col)));
    let on_plate: Vec<[f64; 3]> = pixels
        .filter(|&(row, col)| picture.segmentation[(row * 256 + col) as usize] == label)
        .map(|(row, col)| back_project(&picture, row, col))
        .collect();
    assert!(on_plate.len() > 100, "{} pixels of the plate", on_plate.len());
    for point in &on_plate {
        let across = (point[0] - plate[0]).hypot(point[1] - plate[1]);
        assert!(across < 0.12 && (point[2] - plate[2]).abs() < 0.05, "{point:?}, plate {plate:?}");
    }
    // The table's top, in a corner of the picture that shows nothing else.
    let bare: Vec<[f64; 3]> = (200..250)
        .map(|row| back_project(&picture, row, 128))
        .filter(|point| (point[2] - 0.90).abs() < 0.003)
        .collect();
    assert!(bare.len() > 25, "{} of 50 pixels on the table", bare.len());
}

#[test]
fn one_renderer_serves_all_sizes_and_repeats_itself() {
    let _turn = my_turn();
    let sim = simulator("libero_spatial", 0);
    let mut renderer = Renderer::new(sim.render_scene()).expect("a renderer");
    let state = sim.state();
    let mut picture =
        |width, height| renderer.render(&state, "agentview", width, height, Want::default());
    let Some(first) = unless_no_egl(picture(64, 48)) else { return };
    let large = picture(300, 700).expect("a larger picture");
    assert_eq!(large.color.len(), 300 * 700 * 3);
    assert!(large.depth.is_empty() && large.segmentation.is_empty());
    assert_eq!(picture(64, 48).expect("the first again"), first);
}

#[test]
fn pictures_follow_the_state_and_leave_the_simulator_alone() {
    let _turn = my_turn();
    let mut sim = simulator("libero_goal", 7);
    let mut renderer = Renderer::new(sim.render_scene()).expect("a renderer");
    let before = sim.state();
    let want = Want { depth: true, ..Want::default() };
    let mut picture = |state: &_| renderer.render(state, "agentview", 128, 128, want);
    let Some(first) = unless_no_egl(picture(&before)) else { return };

    // A burner that glows, and a stove that stands elsewhere.
    let mut glowing = before.clone();
    assert_eq!(glowing.visuals, [false]);
    glowing.visuals = vec![true];
    assert_ne!(picture(&glowing).expect("a picture").color, first.color);
    let mut moved = before.clone();
    moved.fixtures.iter_mut().for_each(|pose| pose[0] += 0.1);
    assert_ne!(picture(&moved).expect("a picture").depth, first.depth);

    // On another thread, while the simulator steps.
    for _ in 0..5 {
        sim.step(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0]).expect("a step");
    }
    let after = sim.state();
    let scene = sim.render_scene();
    let (again, later) = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let mut renderer = Renderer::new(scene).expect("a renderer");
            let mut picture = |state| renderer.render(state, "agentview", 128, 128, want);
            (picture(&before).expect("a picture"), picture(&after).expect("a picture"))
        });
        for _ in 0..5 {
            sim.step(&[0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0]).expect("a step");
        }
        thread.join().expect("the rendering thread")
    });
    assert_eq!(again.color, first.color);
    assert_ne!(later.color, first.color);
    // The other renderer's end does not touch this one's context.
    assert_eq!(picture(&before).expect("a picture").color, first.color);
    let mut undisturbed = simulator("libero_goal", 7);
    for dz in [1.0; 5].into_iter().chain([-1.0; 5]) {
        undisturbed.step(&[0.0, 0.0, dz, 0.0, 0.0, 0.0, -1.0]).expect("a step");
    }
    assert_eq!(sim.state(), undisturbed.state());
}

#[test]
fn a_preview_is_another_picture_and_leaves_the_full_one_as_it_is() {
    let _turn = my_turn();
    let sim = simulator("libero_spatial", 0);
    let mut renderer = Renderer::new(sim.render_scene()).expect("a renderer");
    let state = sim.state();
    let mut picture = |quality| renderer.render_in(quality, &state, "agentview", [128, 96], ALL);
    let Some(full) = unless_no_egl(picture(Quality::Full)) else { return };
    let preview = picture(Quality::Preview).expect("a preview");
    assert_ne!(preview.color, full.color);
    let apart: f64 =
        preview.color.iter().zip(&full.color).map(|(a, b)| f64::from(a.abs_diff(*b))).sum();
    assert!(apart / (preview.color.len() as f64) < 12.0, "it shows the same scene");
    assert_eq!(picture(Quality::Full).expect("the first again"), full);
    let labels = renderer.segment(&state, "agentview", [128, 96]).expect("labels");
    assert_eq!(labels, full.segmentation);
}

#[test]
fn simulators_of_a_scene_share_a_renderer() {
    let _turn = my_turn();
    let data = Data::locate().expect("the LIBERO data; `./rua setup` fetches it");
    let scene = std::sync::Arc::new(Scene::load(&data, "libero_goal", 7).expect("the scene"));
    let mut sims = [0, 1].map(|seed| {
        let mut sim = Simulator::new(scene.clone()).expect("the simulator");
        sim.reset(seed, 0).expect("a reset");
        sim
    });
    let mut renderer = Renderer::new(sims[0].render_scene()).expect("a renderer");
    let mut picture =
        |sim: &Simulator| renderer.render(&sim.state(), "agentview", 64, 64, Want::default());
    let Some(first) = unless_no_egl(picture(&sims[0])) else { return };
    let second = picture(&sims[1]).expect("a picture");
    assert_ne!(first.color, second.color, "the fixtures stand elsewhere");
    sims[1].step(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0]).expect("a step");
    assert_eq!(picture(&sims[0]).expect("a picture").color, first.color);
}

#[test]
fn a_device_that_egl_does_not_list_is_refused_with_the_list() {
    let _turn = my_turn();
    let devices = match egl::devices() {
        Ok(devices) => devices,
        Err(error) => return skipped(&error),
    };
    let sim = simulator("libero_object", 0);
    let on = |device: &str| {
        let device = EglDevice::parse(Some(device));
        let mut renderer = Renderer::on(sim.render_scene(), device).expect("a renderer");
        renderer.render(&sim.state(), "wrist", 16, 16, Want::default())
    };
    for absent in ["99", "voodoo"] {
        let refused = on(absent).expect_err("no such device").to_string();
        assert!(refused.contains(absent) && refused.contains(&devices[0]), "{refused}");
    }
    assert!(on(&devices[0]).is_ok() || devices.len() > 1, "the device by its name");
}

#[test]
fn refuses_what_it_cannot_picture() {
    let _turn = my_turn();
    let sim = simulator("libero_spatial", 0);
    let mut renderer = Renderer::new(sim.render_scene()).expect("a renderer");
    let state = sim.state();
    let unknown = renderer.render(&state, "elbow", 64, 64, ALL).expect_err("no such camera");
    let message = unknown.to_string();
    assert!(
        message.contains("elbow") && message.contains("agentview") && message.contains("wrist")
    );
    for (width, height) in [(0, 64), (64, 2049)] {
        let refused = renderer.render(&state, "wrist", width, height, ALL);
        assert!(matches!(refused, Err(RenderError::Size { .. })), "{refused:?}");
    }
    let mut other = state.clone();
    other.visuals.push(true);
    assert!(matches!(
        renderer.render(&other, "wrist", 64, 64, ALL),
        Err(RenderError::State { .. })
    ));
}

/// Runs itself again in a process whose EGL finds no driver.
#[test]
fn without_egl_it_says_what_to_install() {
    const INSIDE: &str = "RENDER_TEST_WITHOUT_EGL";
    if std::env::var_os(INSIDE).is_none() {
        let nothing = tempfile::tempdir().expect("a folder");
        let again = std::process::Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "without_egl_it_says_what_to_install"])
            .env(INSIDE, "1")
            .env("__EGL_VENDOR_LIBRARY_DIRS", nothing.path())
            .output()
            .expect("this test again");
        let said = String::from_utf8_lossy(&again.stdout);
        assert!(again.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let sim = simulator("libero_object", 0);
    let mut renderer = Renderer::new(sim.render_scene()).expect("a renderer");
    let error = renderer.render(&sim.state(), "wrist", 64, 64, ALL).expect_err("no EGL here");
    assert!(matches!(error, RenderError::Egl(_)), "{error}");
    assert!(error.to_string().contains("libegl1 and libgl1-mesa-dri"), "{error}");
}
