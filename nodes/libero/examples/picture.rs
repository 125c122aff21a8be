//! Saves a picture of a task's first state.
//!
//! `./rua cargo run -p libero --example picture -- SUITE TASK SEED SETTLE CAMERA WIDTH HEIGHT FILE.png`

use std::time::Instant;

use eyre::{OptionExt as _, Result, bail};
use libero::data::Data;
use libero::render::{Renderer, Want};
use libero::scene::Scene;
use libero::sim::Simulator;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [suite, task, seed, settle, camera, width, height, file] = &arguments[..] else {
        bail!("usage: picture SUITE TASK SEED SETTLE CAMERA WIDTH HEIGHT FILE.png");
    };
    let scene = Scene::load(&Data::locate()?, suite, task.parse()?)?;
    let mut sim = Simulator::new(scene)?;
    sim.reset(seed.parse()?, settle.parse()?)?;
    let mut renderer = Renderer::new(sim.render_scene())?;
    let (width, height) = (width.parse()?, height.parse()?);
    let want = Want { depth: true, segmentation: true };

    let mut picture = None;
    for what in ["first picture, with the context", "second picture"] {
        let start = Instant::now();
        picture = Some(renderer.render(&sim.state(), camera, width, height, want)?);
        println!("{what}: {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
    }
    let picture = picture.ok_or_eyre("no picture")?;
    let seen = picture.depth.iter().copied().filter(|depth| depth.is_finite());
    println!(
        "depth: {:.3} m to {:.3} m",
        seen.clone().fold(f32::MAX, f32::min),
        seen.fold(0.0, f32::max)
    );
    for (index, name) in renderer.scene().instances().iter().enumerate() {
        let pixels =
            picture.segmentation.iter().filter(|&&label| label == index as u32 + 1).count();
        println!("{pixels:7} pixels of {name}");
    }
    image::save_buffer(file, &picture.color, width, height, image::ColorType::Rgb8)?;
    Ok(())
}
