//! Actions that no robot may take: each refused by an `event`, with nothing moved.

use eyre::Result;
use ruaflow_schemas::Action;

use super::bench::{Answer, Bench, SOON};
use super::motion::Motion;
use super::report::{Found, Report};

/// Refusals in the middle of an episode.
pub fn check_all(motion: &mut Motion<'_>, report: &mut Report) -> Result<()> {
    let good = motion.hold(0);
    type Spoil = fn(&mut Action);
    let cases: [(&str, Spoil); 7] = [
        ("that is not a number", |a| a.values[0] = f64::NAN),
        ("that is infinite", |a| a.values[0] = f64::INFINITY),
        ("with a gripper that is not a number", |a| a.gripper = f64::NAN),
        ("with a gripper out of range", |a| a.gripper = 1.5),
        ("for an arm that is not there", |a| a.arm = "no-such-arm".to_owned()),
        ("of the wrong length", |a| a.values.push(0.0)),
        ("of an unknown kind", |a| a.kind = "no_such_kind".to_owned()),
    ];
    for (words, spoil) in cases {
        let mut bad = good.clone();
        spoil(&mut bad);
        let found = match refused(motion.bench, bad)? {
            Ok(note) => still(motion)?.map(|()| note),
            Err(why) => Err(why),
        };
        report.found(&format!("an action {words} is refused"), found)?;
    }
    Ok(())
}

/// Before the first `reset` there is no scene to act in.
pub fn before_reset(bench: &mut Bench) -> Result<Found> {
    let action = Action {
        arm: "arm".to_owned(),
        kind: "osc_pose_delta".to_owned(),
        values: vec![0.0; 6],
        ..Action::default()
    };
    refused(bench, action)
}

fn refused(bench: &mut Bench, action: Action) -> Result<Found> {
    Ok(match bench.act(action)? {
        Some(Answer::Refused(words)) if words.is_empty() => {
            Err("it was refused without a word why".to_owned())
        }
        Some(Answer::Refused(words)) => Ok(words),
        Some(Answer::Observation(_)) => Err("it was carried out".to_owned()),
        None => Err(format!(
            "no event of kind \"refused\" with its action_id within {} s",
            SOON.as_secs()
        )),
    })
}

/// Nothing moved: no observation comes, and the next good action makes the next control step.
fn still(motion: &mut Motion<'_>) -> Result<Result<(), String>> {
    if motion.bench.moves_by_itself() {
        return Ok(Err("it was refused, and yet an observation came".to_owned()));
    }
    motion.step(motion.hold(0))
}
