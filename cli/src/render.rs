//! `rua render`: pictures and videos of a recorded run.

use std::process::ExitCode;
use std::time::Instant;

use eyre::{Result, eyre};
use image_codec::{Format, Rgb};
use libero::render::Want;
use ruaflow_export::{Moment, Story};
use ruaflow_record::Trajectory;
use ruaflow_schemas::State;
use ruaflow_video::{Mp4Video, caption};

use crate::args::{Render, Size};
use crate::failure::usage;
use crate::print;
use crate::recorded::open_run;
use crate::studio::Studio;

pub fn run(args: &Render) -> Result<ExitCode> {
    let target = Target::of(args)?;
    let dir = open_run(&args.run)?;
    let trajectory = Trajectory::read(&dir, args.episode)?;
    let states = target.states(&trajectory)?;
    let mut studio = Studio::open(&trajectory.card, args.egl_device.as_deref())?;

    let start = Instant::now();
    match target {
        Target::Picture { .. } => {
            let state = states.first().ok_or_else(|| eyre!("no state"))?;
            write_picture(&mut studio, args, state)?;
        }
        Target::Video { .. } => {
            let rate = args.fps.unwrap_or(trajectory.card.control_hz);
            film(&mut studio, args, states, rate)?;
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
            Some("png")
                if args.from.is_some()
                    || args.to.is_some()
                    || args.fps.is_some()
                    || args.captions =>
            {
                Err(usage(
                    "--from, --to, --fps and --captions are for videos: give the file the ending .mp4",
                ))
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

fn picture(studio: &mut Studio, args: &Render, state: &State) -> Result<Vec<u8>> {
    let size = [args.size.width, args.size.height];
    let picture =
        studio.picture(state, &args.camera, size, args.quality.into(), Want::default())?;
    Ok(picture.color)
}

fn write_picture(studio: &mut Studio, args: &Render, state: &State) -> Result<()> {
    let pixels = picture(studio, args, state)?;
    let Size { width, height } = args.size;
    let png = image_codec::encode(&Rgb { width, height, pixels }, Format::Png)?;
    Ok(ruaflow_record::write_atomically(&args.out, &png)?)
}

fn film(studio: &mut Studio, args: &Render, states: &[State], rate: f64) -> Result<()> {
    let story = match args.captions {
        true => Some(Story::read(&open_run(&args.run)?, args.episode)?),
        false => None,
    };
    let size = [args.size.width, args.size.height];
    let mut video = Mp4Video::create(&args.out, size, rate)?;
    for state in states {
        let mut rgb = picture(studio, args, state)?;
        if let Some(story) = &story {
            let Moment { cell, call } = story.at(state.control_step);
            caption(&mut rgb, size, &[cell, call]);
        }
        video.push(&rgb)?;
    }
    video.finish()?;
    Ok(())
}
