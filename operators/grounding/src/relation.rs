//! How well a thing fits a word that relates it to others.

use crate::body::Body;
use crate::phrase::{Kind, Part, Side};

/// Surfaces that touch are measured to about this, metres.
const TOUCH: f64 = 0.05;
/// How far the middle of a thing may be beside what it is on or in, metres.
const OVERHANG: f64 = 0.04;
/// Less to one side is no side, metres.
const ASIDE: f64 = 0.02;
/// What is farther beside the line between two things is not between them, in its length.
const BETWEEN: f64 = 0.4;
/// What is higher is furniture, whose inside is below its top; a thing in a lower
/// vessel may stick out, metres.
const FURNITURE: f64 = 0.12;

/// How well a thing fits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fit {
    /// Metres that it is off; the least fits best.
    pub cost: f64,
    /// Whether it can be said to fit at all.
    pub met: bool,
    /// What was measured.
    pub says: String,
}

/// What a thing is related to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub body: Body,
    pub part: Option<Part>,
}

impl Fit {
    /// Of a thing to another, or to two others for [`Kind::Between`].
    pub fn of(kind: Kind, thing: &Body, targets: &[Target]) -> Option<Self> {
        if kind == Kind::Center {
            let away = thing.center[0].hypot(thing.center[1]);
            let says = format!("{away:.2} m from the middle of the table");
            return Some(Self { cost: away, met: true, says });
        }
        let (target, body) = (targets.first()?, &targets.first()?.body);
        Some(match kind {
            Kind::Between => between(thing, [body, &targets.get(1)?.body]),
            Kind::NextTo => next_to(thing, body),
            Kind::FarthestFrom => {
                let away = distance(thing, body);
                Self { cost: -away, met: true, says: format!("{away:.2} m away") }
            }
            Kind::On => on(thing, body),
            Kind::In => inside(thing, target),
            Kind::From if matches!(target.part, Some(Part::Drawer(_) | Part::Compartment(_))) => {
                inside(thing, target)
            }
            Kind::From => {
                let (on, inside) = (on(thing, body), inside(thing, target));
                if (on.met, -on.cost) >= (inside.met, -inside.cost) { on } else { inside }
            }
            Kind::Under => under(thing, body),
            Kind::LeftOf => beside(thing, body, 1, -1.0),
            Kind::RightOf => beside(thing, body, 1, 1.0),
            Kind::InFrontOf => beside(thing, body, 0, 1.0),
            Kind::Behind => beside(thing, body, 0, -1.0),
            Kind::Center => return None,
        })
    }
}

/// As instructions call it.
pub(crate) fn words(kind: Kind) -> &'static str {
    match kind {
        Kind::NextTo => "next to",
        Kind::On => "on",
        Kind::In => "in",
        Kind::From => "on or in",
        Kind::Under => "under",
        Kind::Between => "between",
        Kind::LeftOf => "left of",
        Kind::RightOf => "right of",
        Kind::InFrontOf => "in front of",
        Kind::Behind => "behind",
        Kind::FarthestFrom => "far from",
        Kind::Center => "in the middle",
    }
}

/// Nearest by the gap between both; what stands on a thing is not next to it.
fn next_to(thing: &Body, target: &Body) -> Fit {
    let gap = gap(thing, target);
    let higher = |of: fn(&Body) -> f64| of(thing) > of(target) + ASIDE;
    let stacked = gap == 0.0 && higher(|body| body.low[2]) && higher(|body| body.center[2]);
    let cost = gap + 0.2 * distance(thing, target) + if stacked { 0.5 } else { 0.0 };
    Fit { cost, met: true, says: format!("{gap:.2} m away") }
}

fn on(thing: &Body, target: &Body) -> Fit {
    let (beyond, above) = (beyond(thing, target), thing.low[2] - target.high[2]);
    // What is low may have a rim or a knob that stands higher than where things stand.
    let height = target.extent()[2];
    let deepest = if height > FURNITURE { TOUCH } else { TOUCH.max(height + TOUCH / 5.0) };
    // A thing hides much of what is smaller than itself.
    let wide = thing.extent();
    let overhang = OVERHANG.max(0.55 * wide[0].min(wide[1]));
    Fit {
        cost: beyond + above.abs(),
        met: beyond < overhang && above < TOUCH && above > -deepest,
        says: format!("{} and its lowest point {above:+.2} m above it", over(beyond)),
    }
}

fn inside(thing: &Body, target: &Target) -> Fit {
    let Target { body, part } = target;
    let rim = body.high[2];
    let beyond = beyond(thing, body);
    let (above, sunk) = match body.extent()[2] > FURNITURE {
        true => (thing.high[2] - rim, thing.high[2] < rim + ASIDE),
        false => (thing.low[2] - rim, thing.low[2] < rim && thing.center[2] < rim + OVERHANG),
    };
    let off = part.map_or(0.0, |part| part.distance(body, thing.center));
    Fit {
        cost: beyond + above.max(0.0) + off,
        met: beyond < OVERHANG && sunk,
        says: format!("{} and {above:+.2} m from its rim", over(beyond)),
    }
}

fn under(thing: &Body, target: &Body) -> Fit {
    let (beyond, above) = (beyond(thing, target), thing.center[2] - target.high[2]);
    Fit {
        cost: beyond + above.max(0.0),
        met: beyond < OVERHANG && above < 0.0,
        says: format!("{} and {above:+.2} m from its top", over(beyond)),
    }
}

/// Along the line from one to the other, and not far beside it.
fn between(thing: &Body, [from, to]: [&Body; 2]) -> Fit {
    let line = [to.center[0] - from.center[0], to.center[1] - from.center[1]];
    let place = [thing.center[0] - from.center[0], thing.center[1] - from.center[1]];
    let length = line[0].hypot(line[1]).max(1e-6);
    let along = (line[0] * place[0] + line[1] * place[1]) / length;
    let aside = (line[0] * place[1] - line[1] * place[0]).abs() / length;
    let outside = (-along).max(along - length).max(0.0);
    Fit {
        cost: aside + outside / 2.0,
        met: outside == 0.0 && aside < BETWEEN * length,
        says: format!("at {:.0} % of the way, {aside:.2} m beside it", 100.0 * along / length),
    }
}

/// To one side along an axis; straight to it fits best.
fn beside(thing: &Body, target: &Body, axis: usize, sign: f64) -> Fit {
    let there = sign * (thing.center[axis] - target.center[axis]);
    let across = (thing.center[1 - axis] - target.center[1 - axis]).abs();
    Fit {
        cost: across + 0.3 * there.abs() + 10.0 * (ASIDE - there).max(0.0),
        met: there > ASIDE,
        says: format!("{there:+.2} m to that side, {across:.2} m across"),
    }
}

impl Part {
    /// Whether a point of the whole is of the part.
    #[must_use]
    pub fn holds(self, whole: &Body, point: [f64; 3]) -> bool {
        let third = |axis: usize| {
            let extent = whole.extent()[axis].max(1e-6);
            (3.0 * (point[axis] - whole.low[axis]) / extent).clamp(0.0, 2.999) as usize
        };
        match self {
            // The board on top is no drawer.
            Self::Drawer(side) => {
                Some(third(2)) == side.third() && point[2] < whole.high[2] - ASIDE / 2.0
            }
            Self::Compartment(Side::Left) => third(1) == 0,
            Self::Compartment(Side::Right) => third(1) == 2,
            Self::Compartment(side) => {
                let nearer = point[0] > (whole.low[0] + whole.high[0]) / 2.0;
                third(1) == 1 && (side == Side::Middle || nearer == (side == Side::Front))
            }
            Self::Place(Side::Top) => point[2] > whole.high[2] - ASIDE,
            Self::Place(side) => side.axis().is_none_or(|axis| Some(third(axis)) == side.third()),
        }
    }

    /// How far a height is off the part's, for parts that lie above each other.
    fn distance(self, whole: &Body, point: [f64; 3]) -> f64 {
        let Self::Drawer(side) = self else { return 0.0 };
        let Some(third) = side.third() else { return 0.0 };
        let middle = whole.low[2] + whole.extent()[2] * (third as f64 + 0.5) / 3.0;
        (point[2] - middle).abs()
    }

    /// In words.
    pub(crate) fn word(self) -> String {
        match self {
            Self::Drawer(side) => format!("its {} drawer is a third of its height", side.word()),
            Self::Compartment(side) => format!("its {} compartment by place", side.word()),
            Self::Place(side) => format!("its {} by place", side.word()),
        }
    }
}

impl Side {
    /// The axis it is a place on.
    pub(crate) fn axis(self) -> Option<usize> {
        match self {
            Self::Front | Self::Back => Some(0),
            Self::Left | Self::Right => Some(1),
            Self::Top | Self::Bottom => Some(2),
            Self::Middle | Self::Largest | Self::Smallest => None,
        }
    }

    /// Which third of that axis, from below.
    fn third(self) -> Option<usize> {
        match self {
            Self::Back | Self::Left | Self::Bottom => Some(0),
            Self::Middle => Some(1),
            Self::Front | Self::Right | Self::Top => Some(2),
            Self::Largest | Self::Smallest => None,
        }
    }
}

fn distance(a: &Body, b: &Body) -> f64 {
    (a.center[0] - b.center[0]).hypot(a.center[1] - b.center[1])
}

/// Between the outlines of both from above.
fn gap(a: &Body, b: &Body) -> f64 {
    let apart = |axis: usize| (a.low[axis] - b.high[axis]).max(b.low[axis] - a.high[axis]).max(0.0);
    apart(0).hypot(apart(1))
}

/// From the middle of a thing to the outline of another from above.
fn beyond(thing: &Body, target: &Body) -> f64 {
    let off = |axis: usize| {
        let at = thing.center[axis];
        (target.low[axis] - at).max(at - target.high[axis]).max(0.0)
    };
    off(0).hypot(off(1))
}

fn over(beyond: f64) -> String {
    match beyond == 0.0 {
        true => "over it".to_owned(),
        false => format!("{beyond:.2} m beside it"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A box of that half size that stands on `z`.
    fn body([x, y, z]: [f64; 3], half: f64, height: f64) -> Body {
        Body {
            center: [x, y, z + height / 2.0],
            low: [x - half, y - half, z],
            high: [x + half, y + half, z + height],
        }
    }

    fn fit(kind: Kind, thing: &Body, targets: &[Body]) -> Fit {
        let targets: Vec<Target> =
            targets.iter().map(|body| Target { body: *body, part: None }).collect();
        Fit::of(kind, thing, &targets).unwrap()
    }

    #[test]
    fn on_is_not_in_and_not_beside() {
        let cabinet = body([0.0, -0.3, 0.9], 0.12, 0.22);
        let on_top = body([0.0, -0.3, 1.12], 0.05, 0.05);
        let in_drawer = body([0.0, -0.22, 1.05], 0.05, 0.05);
        let beside = body([0.0, 0.0, 0.9], 0.05, 0.05);
        assert!(fit(Kind::On, &on_top, &[cabinet]).met && !fit(Kind::In, &on_top, &[cabinet]).met);
        assert!(fit(Kind::In, &in_drawer, &[cabinet]).met);
        assert!(
            fit(Kind::On, &on_top, &[cabinet]).cost < fit(Kind::On, &in_drawer, &[cabinet]).cost
        );
        assert!(!fit(Kind::On, &beside, &[cabinet]).met && !fit(Kind::In, &beside, &[cabinet]).met);
        assert!(
            fit(Kind::From, &on_top, &[cabinet]).met && fit(Kind::From, &in_drawer, &[cabinet]).met
        );
        assert!(
            fit(Kind::NextTo, &beside, &[cabinet]).cost
                < fit(Kind::NextTo, &on_top, &[cabinet]).cost
        );

        // Its knob stands higher than the plate that the bowl is on.
        let stove = body([-0.4, -0.1, 0.9], 0.14, 0.057);
        assert!(fit(Kind::On, &body([-0.35, -0.1, 0.905], 0.05, 0.05), &[stove]).met);

        let drawer = Target { body: cabinet, part: Some(Part::Drawer(Side::Top)) };
        let from = |thing| Fit::of(Kind::From, thing, &[drawer]).unwrap();
        assert!(from(&in_drawer).met && !from(&on_top).met);

        let vessel = body([0.0, 0.0, 0.9], 0.06, 0.05);
        let sticks_out = body([0.0, 0.0, 0.91], 0.03, 0.09);
        assert!(fit(Kind::In, &sticks_out, &[vessel]).met);
    }

    #[test]
    fn what_stands_on_a_thing_is_not_next_to_it() {
        let ramekin = body([-0.2, 0.2, 0.9], 0.04, 0.04);
        // Hidden but for a bit of its rim, as one sees it from the front.
        let rim = Body { low: [-0.18, 0.17, 0.9], ..ramekin };
        let on_it = body([-0.2, 0.2, 0.93], 0.06, 0.05);
        let away = body([0.04, 0.04, 0.9], 0.06, 0.05);
        for ramekin in [ramekin, rim] {
            let cost = |thing: &Body| fit(Kind::NextTo, thing, &[ramekin]).cost;
            assert!(cost(&away) < cost(&on_it));
        }
    }

    #[test]
    fn between_is_along_the_line() {
        let [plate, ramekin] =
            [body([0.06, 0.2, 0.9], 0.08, 0.02), body([-0.2, 0.2, 0.9], 0.04, 0.04)];
        let middle = body([-0.05, 0.2, 0.9], 0.05, 0.05);
        let behind = body([-0.35, 0.25, 0.9], 0.05, 0.05);
        assert!(fit(Kind::Between, &middle, &[plate, ramekin]).met);
        assert!(!fit(Kind::Between, &behind, &[plate, ramekin]).met);
        let aside = body([-0.05, 0.05, 0.9], 0.05, 0.05);
        assert!(!fit(Kind::Between, &aside, &[plate, ramekin]).met);
    }

    #[test]
    fn directions_are_those_of_the_fixed_camera() {
        let plate = body([0.0; 3], 0.08, 0.02);
        for (kind, [x, y]) in [
            (Kind::LeftOf, [0.0, -0.2]),
            (Kind::RightOf, [0.0, 0.2]),
            (Kind::InFrontOf, [0.2, 0.0]),
            (Kind::Behind, [-0.2, 0.0]),
        ] {
            assert!(fit(kind, &body([x, y, 0.0], 0.05, 0.05), &[plate]).met, "{kind:?}");
            assert!(!fit(kind, &body([-x, -y, 0.0], 0.05, 0.05), &[plate]).met, "{kind:?}");
        }
    }

    #[test]
    fn parts_share_a_thing_among_them() {
        let caddy = body([0.0; 3], 0.2, 0.1);
        let sides = [Side::Left, Side::Right, Side::Front, Side::Back];
        for (point, expected) in [
            ([0.0, -0.18, 0.05], Side::Left),
            ([0.0, 0.18, 0.05], Side::Right),
            ([0.1, 0.0, 0.05], Side::Front),
            ([-0.1, 0.0, 0.05], Side::Back),
        ] {
            let holds = sides.map(|side| Part::Compartment(side).holds(&caddy, point));
            assert_eq!(holds, sides.map(|side| side == expected), "{point:?}");
        }
        let cabinet = body([0.0; 3], 0.1, 0.3);
        let drawers = [Side::Top, Side::Middle, Side::Bottom].map(Part::Drawer);
        for (z, expected) in [(0.25, 0), (0.15, 1), (0.05, 2)] {
            let holds = drawers.map(|drawer| drawer.holds(&cabinet, [0.0, 0.1, z]));
            assert_eq!(holds, [0, 1, 2].map(|drawer| drawer == expected), "{z}");
        }
        assert!(!drawers[0].holds(&cabinet, [0.0, 0.0, 0.3]), "the board on top");
        assert!(Part::Place(Side::Top).holds(&cabinet, [0.0, 0.0, 0.3]));
    }
}
