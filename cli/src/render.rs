//! `rua render`: pictures and videos of a recorded run.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use eyre::{Context as _, Result, bail, eyre};
use image_codec::{Format, Rgb};
use libero::data::Data;
use libero::egl::EglDevice;
use libero::gl::Quality;
use libero::render::{Picture, RenderError, Renderer, Want};
use libero::scene::Scene;
use libero::sim::Simulator;
use libero::state::SimState;
use ruaflow_record::Trajectory;
use ruaflow_schemas::{Card, State};
use ruaflow_video::Mp4Video;

use crate::args::Render;
use crate::failure::usage;
use crate::print;
use crate::recorded::open_run;

pub fn run(args: &Render) -> Result<ExitCode> {
    let target = Target::of(args)?;
    let dir = open_run(&args.run)?;
    let trajectory = Trajectory::read(&dir, args.episode)?;
    let states = target.states(&trajectory)?;
    let mut studio = Studio::open(args, &trajectory.card)?;

    let start = Instant::now();
    match target {
        Target::Picture { .. } => {
            let state = states.first().ok_or_else(|| eyre!("no state"))?;
            studio.picture(state, &args.out)?;
        }
        Target::Video { .. } => {
            let rate = args.fps.unwrap_or(trajectory.card.control_hz);
            studio.video(states, rate, &args.out)?;
        }
    }
    print::line(format_args!(
        "{}: {} of {}x{}, {:.1} s",
        args.out.display(),
        match states.len() {
            1 => "one picture".to_owned(),
            pictures => format!("{pictures} pictures"),
        },
        args.size.width,
        args.size.height,
        start.elapsed().as_secs_f64()
    ));
    Ok(ExitCode::SUCCESS)
}

/// What to make; the file's ending decides.
enum Target {
    Picture { step: i64 },
    Video { from: i64, to: i64 },
}

impl Target {
    fn of(args: &Render) -> Result<Self> {
        match args.out.extension().and_then(|ending| ending.to_str()) {
            Some("png") if args.from.is_some() || args.to.is_some() || args.fps.is_some() => {
                Err(usage("--from, --to and --fps are for videos: give the file the ending .mp4"))
            }
            Some("png") => Ok(Target::Picture { step: args.step.unwrap_or(-1) }),
            Some("mp4") if args.step.is_some() => {
                Err(usage("--step is for one picture: give the file the ending .png"))
            }
            Some("mp4") => {
                Ok(Target::Video { from: args.from.unwrap_or(0), to: args.to.unwrap_or(-1) })
            }
            _ => Err(usage(format!(
                "{:?} ends neither in .png nor in .mp4, so what shall it be?",
                args.out
            ))),
        }
    }

    fn states<'a>(&self, trajectory: &'a Trajectory) -> Result<&'a [State]> {
        let index = |step: i64| {
            let wanted = trajectory.at(step);
            let found = wanted.and_then(|wanted| {
                trajectory.states.iter().position(|state| std::ptr::eq(state, wanted))
            });
            found.ok_or_else(|| {
                usage(format!(
                    "there is no control step {step}: the last one is {}",
                    trajectory.last_step()
                ))
            })
        };
        match *self {
            Target::Picture { step } => index(step).map(|at| &trajectory.states[at..=at]),
            Target::Video { from, to } => match (index(from)?, index(to)?) {
                (from, to) if from <= to => Ok(&trajectory.states[from..=to]),
                _ => Err(usage(format!("control step {to} comes before {from}"))),
            },
        }
    }
}

/// A scene with its renderer.
struct Studio<'a> {
    args: &'a Render,
    renderer: Renderer,
}

impl<'a> Studio<'a> {
    fn open(args: &'a Render, card: &Card) -> Result<Self> {
        if card.robot != "libero" {
            bail!(
                "only LIBERO's scenes can be pictured again; this run's robot is {:?}",
                card.robot
            );
        }
        // SAFETY: nothing in this process uses MuJoCo yet.
        unsafe { libero::physics::log_to_tracing() };
        let scene = Scene::load(&Data::locate()?, &card.suite, card.task as usize)?;
        let scene = Simulator::new(scene)?.render_scene();
        let device = EglDevice::parse(args.egl_device.as_deref());
        Ok(Studio { args, renderer: Renderer::on(scene, device)? })
    }

    fn picture(&mut self, state: &State, out: &Path) -> Result<()> {
        let Picture { width, height, color: pixels, .. } = self.render(state)?;
        let png = image_codec::encode(&Rgb { width, height, pixels }, Format::Png)?;
        Ok(ruaflow_record::write_atomically(out, &png)?)
    }

    fn video(&mut self, states: &[State], rate: f64, out: &Path) -> Result<()> {
        let size = [self.args.size.width, self.args.size.height];
        let mut video = Mp4Video::create(out, size, rate)?;
        for state in states {
            video.push(&self.render(state)?.color)?;
        }
        video.finish()?;
        Ok(())
    }

    fn render(&mut self, state: &State) -> Result<Picture> {
        let Render { camera, size, quality, .. } = self.args;
        let quality: Quality = (*quality).into();
        let size = [size.width, size.height];
        let rendered = self.renderer.render_in(
            quality,
            &SimState::try_from(state)?,
            camera,
            size,
            Want::default(),
        );
        rendered
            .map_err(|error| match error {
                RenderError::UnknownCamera { .. } | RenderError::Size { .. } => {
                    usage(error.to_string())
                }
                other => other.into(),
            })
            .wrap_err_with(|| format!("no picture of control step {}", state.control_step))
    }
}
