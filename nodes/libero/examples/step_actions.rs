//! Steps a scene through actions given on standard input, seven numbers a line, and
//! prints the wall time of each control step: what a step costs in one process,
//! without a dataflow around it.
//!
//! `./rua cargo run -p libero --example step_actions SUITE TASK SEED SETTLE < actions`

use std::io::BufRead as _;
use std::time::{Duration, Instant};

use eyre::{Context as _, Result, bail, eyre};
use libero::data::Data;
use libero::scene::Scene;
use libero::sim::Simulator;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [suite, task, seed, settle] = &arguments[..] else {
        bail!("usage: step_actions SUITE TASK SEED SETTLE < actions");
    };
    let scene = Scene::load(&Data::locate()?, suite, task.parse()?)?;
    let mut sim = Simulator::new(scene)?;
    sim.reset(seed.parse()?, settle.parse()?)?;

    let mut spent = Duration::ZERO;
    let mut steps = 0;
    for line in std::io::stdin().lock().lines() {
        let action = parse(&line?)?;
        let start = Instant::now();
        sim.step(&action)?;
        spent += start.elapsed();
        steps += 1;
    }
    println!(
        "{:.4} ms per control step over {steps} steps",
        1e3 * spent.as_secs_f64() / f64::from(steps.max(1))
    );
    Ok(())
}

fn parse(line: &str) -> Result<[f64; 7]> {
    let numbers: Vec<f64> = line
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .wrap_err_with(|| format!("line {line:?}"))?;
    numbers.try_into().map_err(|_| eyre!("line {line:?} has not seven numbers"))
}
