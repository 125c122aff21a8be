//! Decides which of the things that were found a query means.

use crate::body::Body;
use crate::phrase::{Kind, Query, Relation, Side};
use crate::relation::{Fit, Target, words};

/// Things whose score is below this share of the best are no rivals of it.
const RIVAL: f64 = 0.5;
/// Two masks whose bodies differ by less are the same thing, metres.
const SAME: f64 = 0.01;

/// Something that was found under a noun.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thing {
    /// 0 to 1.
    pub score: f64,
    /// None when no depth was measured.
    pub body: Option<Body>,
}

/// What was decided.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grounded {
    /// Indices of the things found under the query's noun, the one that is meant
    /// first; empty when none is.
    pub order: Vec<usize>,
    /// Why, in words; empty when the noun alone decided.
    pub reason: String,
}

/// Decides which of the things that `find` has under the query's noun is meant.
/// `find` is asked for every noun of the query, and answers best first.
///
/// # Errors
/// Those of `find`.
pub fn ground<E>(
    query: &Query,
    mut find: impl FnMut(&str) -> Result<Vec<Thing>, E>,
) -> Result<Grounded, E> {
    let things = find(&query.noun)?;
    decide(query, &things, &mut find)
}

fn decide<E>(
    query: &Query,
    things: &[Thing],
    find: &mut dyn FnMut(&str) -> Result<Vec<Thing>, E>,
) -> Result<Grounded, E> {
    let all: Vec<usize> = (0..things.len()).collect();
    if query.relations.is_empty() && query.side.is_none() || things.is_empty() {
        let reason = query.part.map(|part| part.word()).unwrap_or_default();
        return Ok(Grounded { order: all, reason });
    }
    let mut placed: Vec<Placed> = all.iter().filter_map(|&at| Placed::new(at, things)).collect();
    if placed.is_empty() {
        let reason = "without depth, where things are could not be told".to_owned();
        return Ok(Grounded { order: all, reason });
    }
    let mut reasons = Vec::new();
    for relation in &query.relations {
        let mut targets = Vec::new();
        for of in &relation.of {
            targets.push(resolve(of, find)?);
        }
        match relate(&query.noun, relation, &targets, placed) {
            Ok(kept) => placed = kept,
            Err(reason) => return Ok(Grounded { order: Vec::new(), reason }),
        }
        let says = placed.first().map(|best| best.says.clone()).unwrap_or_default();
        reasons.push(format!("{}: {says}", told(relation)));
    }
    placed.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    if let Some(side) = query.side {
        reasons.push(rank(side, things, &mut placed));
    }
    let order: Vec<usize> = placed.iter().map(|placed| placed.at).collect();
    let reason = match order.len() {
        1 => reasons.join("; "),
        several => format!("{} (of {several})", reasons.join("; ")),
    };
    Ok(Grounded { order, reason })
}

/// A thing with a place, and how well it fits so far.
struct Placed {
    at: usize,
    body: Body,
    cost: f64,
    says: String,
}

impl Placed {
    fn new(at: usize, things: &[Thing]) -> Option<Self> {
        Some(Self { at, body: things[at].body?, cost: 0.0, says: String::new() })
    }
}

/// What a relation's noun stands for: the one that is meant, or all of that name.
fn resolve<E>(
    query: &Query,
    find: &mut dyn FnMut(&str) -> Result<Vec<Thing>, E>,
) -> Result<Vec<Target>, E> {
    let things = find(&query.noun)?;
    let decided = decide(query, &things, find)?;
    let one = query.side.is_some() || !query.relations.is_empty();
    let rivals = rivals(&things);
    let targets = decided.order.into_iter().filter(|&at| one || rivals(at));
    let targets =
        targets.filter_map(|at| Some(Target { body: things[at].body?, part: query.part }));
    Ok(targets.take(if one { 1 } else { usize::MAX }).collect())
}

/// Keeps the things that a relation fits; or says why none is left.
fn relate(
    noun: &str,
    relation: &Relation,
    targets: &[Vec<Target>],
    placed: Vec<Placed>,
) -> Result<Vec<Placed>, String> {
    if let Some((of, _)) = relation.of.iter().zip(targets).find(|(_, found)| found.is_empty()) {
        // What is not there, nothing is at.
        return match relation.negated {
            true => Ok(placed),
            false => Err(format!(
                "{:?} was not found, which it should be {}",
                of.noun,
                words(relation.kind)
            )),
        };
    }
    let several = placed.len();
    let mut fits: Vec<(Placed, Fit)> = placed
        .into_iter()
        .filter_map(|placed| Some((fit(relation.kind, &placed.body, targets)?, placed)))
        .map(|(fit, placed)| (placed, fit))
        .collect();
    fits.sort_by(|(_, a), (_, b)| a.cost.total_cmp(&b.cost));
    if relation.negated {
        fits.reverse();
    }
    let nearest = fits.first().map(|(_, fit)| fit.says.clone());
    let kept = fits.into_iter().filter(|(_, fit)| fit.met || relation.negated);
    let kept: Vec<Placed> = kept
        .map(|(placed, fit)| {
            let cost = if relation.negated { -fit.cost } else { fit.cost };
            Placed { cost: placed.cost + cost, says: fit.says, ..placed }
        })
        .collect();
    match kept.is_empty() {
        false => Ok(kept),
        true => Err(format!(
            "{several} {noun:?} found, none {}{}",
            told(relation),
            nearest.map(|says| format!("; the likeliest is {says}")).unwrap_or_default()
        )),
    }
}

/// The best fit to any of the things a noun stands for.
fn fit(kind: Kind, thing: &Body, targets: &[Vec<Target>]) -> Option<Fit> {
    let others = |targets: &[Target]| -> Vec<Target> {
        targets.iter().filter(|target| !same(&target.body, thing)).copied().collect()
    };
    let combinations: Vec<Vec<Target>> = match targets {
        [] => vec![Vec::new()],
        [one] if kind == Kind::Between => {
            let one = others(one);
            let pairs = (0..one.len()).flat_map(|a| (a + 1..one.len()).map(move |b| [a, b]));
            pairs.map(|pair| pair.map(|at| one[at]).to_vec()).collect()
        }
        [first, second, ..] => {
            let second = others(second);
            let pairs =
                others(first).into_iter().flat_map(|a| second.iter().map(move |b| vec![a, *b]));
            pairs.collect()
        }
        [one] => others(one).into_iter().map(|target| vec![target]).collect(),
    };
    let fits = combinations.iter().filter_map(|targets| Fit::of(kind, thing, targets));
    fits.min_by(|a, b| {
        (!a.met, a.cost).partial_cmp(&(!b.met, b.cost)).unwrap_or(std::cmp::Ordering::Equal)
    })
}

fn same(a: &Body, b: &Body) -> bool {
    let near = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < SAME);
    near(a.center, b.center) && near(a.low, b.low) && near(a.high, b.high)
}

/// "next to the plate", "not between the plate and the ramekin".
fn told(relation: &Relation) -> String {
    let of: Vec<String> = relation.of.iter().map(|of| format!("the {}", of.noun)).collect();
    let not = if relation.negated { "not " } else { "" };
    format!("{not}{} {}", words(relation.kind), of.join(" and ")).trim_end().to_owned()
}

fn rivals(things: &[Thing]) -> impl Fn(usize) -> bool {
    let best = things.iter().map(|thing| thing.score).fold(0.0, f64::max);
    move |at| things[at].score >= RIVAL * best
}

/// What things are ordered by.
type Key = Box<dyn Fn(&Placed) -> f64>;

/// Orders things by a side; what scores far lower than the others is no rival.
fn rank(side: Side, things: &[Thing], placed: &mut Vec<Placed>) -> String {
    let rivals = rivals(things);
    placed.retain(|placed| rivals(placed.at));
    let (axis, key): (usize, Key) = match (side, side.axis()) {
        (Side::Front | Side::Right | Side::Top, Some(axis)) => {
            (axis, Box::new(move |placed| -placed.body.center[axis]))
        }
        (_, Some(axis)) => (axis, Box::new(move |placed| placed.body.center[axis])),
        (Side::Middle, None) => {
            let axis = usize::from(spread(placed, 1) > spread(placed, 0));
            let middle = middle(placed, axis);
            (axis, Box::new(move |placed| (placed.body.center[axis] - middle).abs()))
        }
        (Side::Largest, None) => (2, Box::new(|placed| -size(&placed.body))),
        (_, None) => (2, Box::new(|placed| size(&placed.body))),
    };
    placed.sort_by(|a, b| key(a).total_cmp(&key(b)));
    let at = placed.iter().map(|placed| match side {
        Side::Largest | Side::Smallest => format!("{:.2}", size(&placed.body)),
        _ => format!("{:+.2}", placed.body.center[axis]),
    });
    let what = match side {
        Side::Largest | Side::Smallest => "size",
        _ => ["x", "y", "z"][axis],
    };
    format!("{}: {what} = {} m", side.word(), at.collect::<Vec<_>>().join(", "))
}

fn spread(placed: &[Placed], axis: usize) -> f64 {
    let at = || placed.iter().map(|placed| placed.body.center[axis]);
    at().fold(f64::MIN, f64::max) - at().fold(f64::MAX, f64::min)
}

/// The middle one's place, between the two middle ones of an even number.
fn middle(placed: &[Placed], axis: usize) -> f64 {
    let mut at: Vec<f64> = placed.iter().map(|placed| placed.body.center[axis]).collect();
    at.sort_by(f64::total_cmp);
    match at.len() {
        0 => 0.0,
        count => (at[(count - 1) / 2] + at[count / 2]) / 2.0,
    }
}

/// Diagonal of the box around it.
fn size(body: &Body) -> f64 {
    body.extent().iter().map(|side| side * side).sum::<f64>().sqrt()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn at(x: f64, y: f64, z: f64, score: f64) -> Thing {
        Thing {
            score,
            body: Some(Body {
                center: [x, y, z + 0.02],
                low: [x - 0.05, y - 0.05, z],
                high: [x + 0.05, y + 0.05, z + 0.05],
            }),
        }
    }

    /// LIBERO's `libero_spatial` 5 and what else its table may hold.
    fn scene() -> BTreeMap<&'static str, Vec<Thing>> {
        BTreeMap::from([
            ("black bowl", vec![at(0.13, -0.07, 0.9, 0.9), at(-0.18, 0.32, 0.9, 0.8)]),
            ("plate", vec![at(0.06, 0.2, 0.9, 0.9)]),
            ("ramekin", vec![at(-0.2, 0.2, 0.9, 0.9)]),
            ("cookies box", vec![at(0.07, 0.03, 0.9, 0.9)]),
            (
                "moka pot",
                vec![at(-0.05, 0.25, 0.9, 0.9), at(0.05, 0.05, 0.9, 0.9), at(0.0, -0.4, 0.9, 0.1)],
            ),
            (
                "book",
                vec![at(0.0, 0.0, 0.9, 0.9), at(-0.05, -0.25, 0.9, 0.9), at(0.05, -0.15, 0.9, 0.9)],
            ),
            ("ghost", vec![Thing { score: 0.4, body: None }]),
        ])
    }

    fn asked(phrase: &str) -> Grounded {
        let scene = scene();
        let query = Query::parse(phrase).unwrap();
        let find = |noun: &str| Ok::<_, ()>(scene.get(noun).cloned().unwrap_or_default());
        ground(&query, find).unwrap()
    }

    #[test]
    fn words_decide_between_two() {
        for (phrase, expected) in [
            ("black bowl", vec![0, 1]),
            ("black bowl next to the ramekin", vec![1, 0]),
            ("black bowl next to the cookies box", vec![0, 1]),
            ("black bowl not next to the cookies box", vec![1, 0]),
            ("black bowl to the left of the plate", vec![0]),
            ("black bowl to the right of the plate", vec![1]),
            ("left black bowl", vec![0, 1]),
            ("right black bowl", vec![1, 0]),
            ("black bowl at the back", vec![1, 0]),
            ("black bowl at the front", vec![0, 1]),
            ("left moka pot", vec![1, 0]),
            ("book in the middle", vec![2, 0, 1]),
            ("book on the left", vec![1, 2, 0]),
            ("black bowl closest to the plate", vec![1, 0]),
            ("black bowl farthest from the plate", vec![0, 1]),
            ("plate in front of the ramekin", vec![0]),
        ] {
            let mut found = asked(phrase);
            // The middle one comes first; which of the outer ones is second does not matter.
            found.order.truncate(expected.len());
            if phrase.contains("middle") {
                assert_eq!(found.order[0], expected[0], "{phrase}: {}", found.reason);
            } else {
                assert_eq!(found.order, expected, "{phrase}: {}", found.reason);
            }
        }
    }

    #[test]
    fn the_reason_says_what_was_measured() {
        assert_eq!(asked("black bowl").reason, "");
        let reason = asked("black bowl next to the ramekin").reason;
        assert_eq!(reason, "next to the ramekin: 0.02 m away (of 2)");
        assert_eq!(asked("left moka pot").reason, "left: y = +0.05, +0.25 m (of 2)");
    }

    #[test]
    fn what_fits_nothing_is_not_found() {
        let none = asked("black bowl on the plate");
        assert!(none.order.is_empty());
        assert!(
            none.reason.starts_with("2 \"black bowl\" found, none on the plate; the likeliest"),
            "{}",
            none.reason
        );
        let none = asked("black bowl next to the unicorn");
        assert_eq!(
            (none.order.len(), none.reason.as_str()),
            (0, "\"unicorn\" was not found, which it should be next to")
        );
        assert_eq!(asked("black bowl not next to the unicorn").order.len(), 2);
        assert_eq!(asked("unicorn next to the plate").order, [] as [usize; 0]);
        assert_eq!(asked("left ghost").reason, "without depth, where things are could not be told");
    }
}
