//! Picks the black bowl up by its rim and puts it on the plate, from the objects'
//! true positions: shows that control, physics and judge work together, and prints
//! the waypoints, from which the demo policy's numbers were taken.
//!
//! `./rua cargo run -p libero --example pick_place [seed] [settle]`

use eyre::{OptionExt as _, Result, bail};
use libero::data::Data;
use libero::scene::Scene;
use libero::sim::{SimError, Simulator};

const OPEN: f64 = -1.0;
const CLOSE: f64 = 1.0;
const BOWL: &str = "akita_black_bowl_1";
const PLATE: &str = "plate_1";

/// From the bowl's origin to where the rim is gripped, metres.
const RIM: [f64; 3] = [0.0, -0.05, 0.035];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let seed = arguments.next().map_or(Ok(0), |text| text.parse())?;
    let settle = arguments.next().map_or(Ok(15), |text| text.parse())?;
    let scene = Scene::load(&Data::locate()?, "libero_spatial", 0)?;
    let mut sim = Simulator::new(scene)?;
    sim.reset(seed, settle)?;

    let bowl = sim.thing_position(BOWL).ok_or_eyre("no bowl")?;
    let plate = sim.thing_position(PLATE).ok_or_eyre("no plate")?;
    println!("seed {seed}, settle {settle}: bowl at {bowl:.4?}, plate at {plate:.4?}");
    println!("eef starts at {:.4?}", sim.observation().eef_pos);

    let grasp = add(bowl, RIM);
    let place = add(plate, [RIM[0], RIM[1], 0.06]);
    let run = |sim: &mut Simulator| -> Result<(), SimError> {
        go(sim, "above the rim", add(grasp, [0.0, 0.0, 0.12]), OPEN, 0.015)?;
        go(sim, "at the rim", grasp, OPEN, 0.008)?;
        hold(sim, "close", CLOSE, 10)?;
        go(sim, "lift", add(grasp, [0.0, 0.0, 0.15]), CLOSE, 0.02)?;
        go(sim, "above the plate", add(place, [0.0, 0.0, 0.13]), CLOSE, 0.01)?;
        go(sim, "lower", place, CLOSE, 0.012)?;
        hold(sim, "open", OPEN, 10)?;
        go(sim, "retreat", add(place, [0.0, 0.0, 0.16]), OPEN, 0.03)
    };
    match run(&mut sim) {
        Ok(()) | Err(SimError::Finished(_)) => {}
        Err(error) => return Err(error.into()),
    }
    let observation = sim.observation();
    if !observation.success {
        bail!("no success after {} control steps", observation.control_step);
    }
    println!("success at control step {}", observation.control_step);
    Ok(())
}

/// Drives straight to a point, at most 60 control steps.
fn go(
    sim: &mut Simulator,
    what: &str,
    to: [f64; 3],
    grip: f64,
    tolerance: f64,
) -> Result<(), SimError> {
    let first = sim.observation().control_step;
    for _ in 0..60 {
        let at = sim.observation().eef_pos;
        let error: [f64; 3] = std::array::from_fn(|i| to[i] - at[i]);
        if error.iter().map(|e| e * e).sum::<f64>().sqrt() < tolerance {
            break;
        }
        let [dx, dy, dz] = error.map(|e| (e / 0.05).clamp(-1.0, 1.0));
        sim.step(&[dx, dy, dz, 0.0, 0.0, 0.0, grip])?;
    }
    report(sim, what, Some(to), first);
    Ok(())
}

/// Stays put while the fingers move.
fn hold(sim: &mut Simulator, what: &str, grip: f64, steps: u32) -> Result<(), SimError> {
    let first = sim.observation().control_step;
    for _ in 0..steps {
        sim.step(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, grip])?;
    }
    report(sim, what, None, first);
    Ok(())
}

fn report(sim: &Simulator, what: &str, to: Option<[f64; 3]>, first: u64) {
    let seen = sim.observation();
    let steps = seen.control_step - first;
    let [left, right] = seen.gripper_qpos;
    let to = to.map_or(String::new(), |to| format!(" for {to:.4?}"));
    println!(
        "{what:16} {steps:3} steps: eef {:.4?}{to}, opening {:.4}",
        seen.eef_pos,
        left - right
    );
}

fn add(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] + b[i])
}
