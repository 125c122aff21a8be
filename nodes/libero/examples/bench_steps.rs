//! Environment steps per second of CPU, and how that compares with bare physics.
//!
//! `./rua cargo run -p libero --example bench_steps [suite] [task] [steps]`

use std::time::Duration;

use eyre::Result;
use libero::data::Data;
use libero::plant::SUBSTEPS;
use libero::scene::Scene;
use libero::sim::Simulator;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let suite = arguments.next().unwrap_or_else(|| "libero_spatial".to_owned());
    let task = arguments.next().map_or(Ok(0), |text| text.parse())?;
    let steps: u32 = arguments.next().map_or(Ok(200), |text| text.parse())?;
    let scene = Scene::load(&Data::locate()?, &suite, task)?;
    let mut sim = Simulator::new(scene)?;

    // Both from every state of the same motion: contacts decide what a step costs.
    let (mut stepping, mut bare) = (Duration::ZERO, Duration::ZERO);
    sim.reset(0, 15)?;
    for step in 0..steps {
        let state = sim.state();
        // Both right after the state was put back, so that neither finds warmer memory.
        sim.restore(&state)?;
        let start = cpu_time();
        for _ in 0..SUBSTEPS {
            sim.plant_mut().physics_mut().step();
        }
        bare += cpu_time() - start;
        sim.restore(&state)?;

        let start = cpu_time();
        sim.step(&wave(step))?;
        stepping += cpu_time() - start;
    }
    let rate = |time: Duration| f64::from(steps) / time.as_secs_f64();
    println!("{suite} {task}, {steps} control steps of {SUBSTEPS} substeps");
    println!("environment steps per CPU second: {:.1}", rate(stepping));
    println!("25 bare mj_step per CPU second:   {:.1}", rate(bare));
    println!("ratio: {:.3}", rate(stepping) / rate(bare));
    Ok(())
}

/// A motion to and fro above the table, with some rotation.
fn wave(step: u32) -> [f64; 7] {
    let phase = f64::from(step) * 0.1;
    [0.3 * phase.sin(), 0.3 * phase.cos(), 0.0, 0.0, 0.0, 0.1 * phase.sin(), -1.0]
}

/// CPU time of this process over all its threads.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec that the call fills.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
