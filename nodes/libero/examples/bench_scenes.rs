//! What scenes cost: loading a task, resetting it, a second scene of it.
//!
//! `./rua cargo run -p libero --example bench_scenes [SUITE TASK]...`

use std::time::Duration;

use eyre::{Context as _, Result, eyre};
use libero::data::Data;
use libero::scenes::Scenes;
use libero::sim::Simulator;

const RESETS: u64 = 10;
const STEPS: usize = 10;
const FAMILIES: [&str; 10] = [
    "libero_spatial",
    "0",
    "libero_object",
    "0",
    "libero_goal",
    "0",
    "libero_10",
    "0",
    "libero_90",
    "0",
];

fn main() -> Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.is_empty() {
        arguments = FAMILIES.map(str::to_owned).to_vec();
    }
    let scenes = Scenes::new(Data::locate()?);
    println!("milliseconds of CPU, megabytes of PSS");
    println!("scene                     load     reset  first scene  second scene  freed");
    for entry in arguments.chunks(2) {
        let [suite, task] = entry else { return Err(eyre!("usage: bench_scenes [SUITE TASK]...")) };
        let before = memory()?;
        let start = cpu_time();
        let scene = scenes.get(suite, task.parse()?)?;
        let mut first = Simulator::new(scene.clone())?;
        let load = cpu_time() - start;
        play(&mut first)?;
        let with_first = memory()?;
        let mut second = Simulator::new(scene)?;
        play(&mut second)?;
        let with_second = memory()?;

        let start = cpu_time();
        for seed in 0..RESETS {
            first.reset(seed, 0)?;
        }
        let reset = (cpu_time() - start) / RESETS as u32;
        drop((first, second));
        libero::physics::release_compiler_memory();
        println!(
            "{:22} {:7.0}  {:8.1}  {:11.1}  {:12.1}  {:5.1}",
            format!("{suite} {task}"),
            1e3 * load.as_secs_f64(),
            1e3 * reset.as_secs_f64(),
            with_first - before,
            with_second - with_first,
            with_second - memory()?
        );
    }
    Ok(())
}

/// Touches what an episode touches.
fn play(sim: &mut Simulator) -> Result<()> {
    sim.reset(1, 0)?;
    for _ in 0..STEPS {
        sim.step(&[0.2, 0.1, -0.8, 0.0, 0.0, 0.2, -1.0])?;
    }
    Ok(())
}

/// Proportional set size of this process, MB.
fn memory() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup")?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    let kib: f64 = number.ok_or_else(|| eyre!("no PSS"))?.parse().wrap_err("PSS")?;
    Ok(kib * 1024.0 / 1e6)
}

/// CPU time of this process over all its threads.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec that the call fills.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
