//! Steps through a trajectory recorded from the Python reference
//! (`tests/reference/record.py`) and prints how far the simulator departs from it.
//!
//! `cargo run --release -p libero --example replay_golden -- FILE.json`

use eyre::{OptionExt as _, Result};
use libero::data::Data;
use libero::scene::Scene;
use libero::sim::Simulator;
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    suite: String,
    task: usize,
    seed: u64,
    settle: u32,
    actions: Vec<[f64; 7]>,
    /// `qpos` holds every n-th control step.
    every: usize,
    qpos: Vec<Vec<f64>>,
    success_step: Option<u64>,
}

fn main() -> Result<()> {
    let path = std::env::args().nth(1).ok_or_eyre("usage: replay_golden FILE.json")?;
    let golden: Golden = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
    let scene = Scene::load(&Data::locate()?, &golden.suite, golden.task)?;
    let mut sim = Simulator::new(scene)?;
    sim.reset(golden.seed, golden.settle)?;

    println!("step  max|dq| arm and fingers  max|dq| all  rotates");
    let mut success = None;
    for (index, action) in golden.actions.iter().enumerate() {
        sim.step(action)?;
        let step = index + 1;
        if step % golden.every == 0
            && let Some(qpos) = golden.qpos.get(step / golden.every - 1)
        {
            let apart = |count: usize| {
                let pairs = qpos.iter().zip(sim.qpos()).take(count);
                pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            let rotates = action[3..6].iter().any(|&r| r != 0.0);
            println!("{step:4}  {:24.2e}  {:11.2e}  {rotates}", apart(9), apart(qpos.len()));
        }
        if sim.observation().success {
            success = Some(step as u64);
            break;
        }
    }
    println!("success at step {success:?}; the reference: {:?}", golden.success_step);
    Ok(())
}
