//! LIBERO without a dataflow: one scene, two simulators in it, a picture.
//!
//! `./rua cargo run -p libero --example step`

use libero::{
    data::Data,
    render::{Renderer, Want},
    scenes::Scenes,
    sim::Simulator,
};

fn main() -> eyre::Result<()> {
    let scenes = Scenes::new(Data::locate()?);
    let scene = scenes.get("libero_spatial", 0)?;
    println!("{}", scene.task.instruction);
    let mut sims = [Simulator::new(scene.clone())?, Simulator::new(scene)?];
    for (seed, sim) in sims.iter_mut().enumerate() {
        sim.reset(seed as u64, 15)?;
        for _ in 0..20 {
            sim.step(&[0.0, 0.0, -0.5, 0.0, 0.0, 0.0, -1.0])?;
        }
        println!("seed {seed}: hand at {:.3?}", sim.observation().eef_pos);
    }
    let mut renderer = Renderer::new(sims[0].render_scene())?;
    let picture = renderer.render(&sims[1].state(), "agentview", 256, 256, Want::default())?;
    image::save_buffer("step.png", &picture.color, 256, 256, image::ColorType::Rgb8)?;
    Ok(())
}
