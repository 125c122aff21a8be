//! Pictures per second, and what one costs.
//!
//! `./rua cargo run -p libero --example bench_pictures [suite] [task] [pictures] [EGL device]`

use std::time::{Duration, Instant};

use eyre::Result;
use libero::data::Data;
use libero::egl::{self, EglDevice};
use libero::gl::Quality;
use libero::render::{Renderer, Want};
use libero::scene::Scene;
use libero::sim::Simulator;
use libero::state::SimState;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let suite = arguments.next().unwrap_or_else(|| "libero_spatial".to_owned());
    let task = arguments.next().map_or(Ok(0), |text| text.parse())?;
    let pictures: u32 = arguments.next().map_or(Ok(20), |text| text.parse())?;
    let device = EglDevice::parse(arguments.next().as_deref());
    for (number, name) in egl::devices()?.iter().enumerate() {
        println!("EGL device {number}: {name}");
    }

    let mut sim = Simulator::new(Scene::load(&Data::locate()?, &suite, task)?)?;
    sim.reset(0, 15)?;
    let mut states = Vec::new();
    for _ in 0..10 {
        sim.step(&[0.2, 0.1, -0.5, 0.0, 0.0, 0.2, -1.0])?;
        states.push(sim.state());
    }
    let start = Instant::now();
    let mut renderer = Renderer::on(sim.render_scene(), device)?;
    println!("scene with its looks: {:.0} ms", milliseconds(start.elapsed()));
    let start = Instant::now();
    renderer.render(&states[0], "agentview", 256, 256, Want::default())?;
    println!("first picture, with the context: {:.0} ms", milliseconds(start.elapsed()));

    println!("{suite} {task}, {pictures} pictures each, RGB and depth");
    println!("camera     side  quality  pictures/s  wall ms  cpu ms");
    for camera in ["agentview", "wrist"] {
        for side in [256, 1024] {
            for quality in [Quality::Full, Quality::Preview] {
                let (wall, cpu) = measure(&mut renderer, &states, camera, side, quality, pictures)?;
                println!(
                    "{camera:10} {side:4}  {:7} {:10.1}  {:7.1} {:7.1}",
                    format!("{quality:?}"),
                    1e3 / wall,
                    wall,
                    cpu
                );
            }
        }
    }
    Ok(())
}

/// Wall and CPU milliseconds of a picture.
fn measure(
    renderer: &mut Renderer,
    states: &[SimState],
    camera: &str,
    side: u32,
    quality: Quality,
    pictures: u32,
) -> Result<(f64, f64)> {
    let want = Want { depth: true, segmentation: false };
    // The buffer may have to grow.
    renderer.render_in(quality, &states[0], camera, [side, side], want)?;
    let (start, cpu) = (Instant::now(), cpu_time());
    for state in states.iter().cycle().take(pictures as usize) {
        renderer.render_in(quality, state, camera, [side, side], want)?;
    }
    let each = |time: Duration| milliseconds(time) / f64::from(pictures);
    Ok((each(start.elapsed()), each(cpu_time() - cpu)))
}

fn milliseconds(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}

/// CPU time of this process over all its threads.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec that the call fills.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
