//! Where a reset puts fixtures and objects: the reference's placement samplers,
//! in its order of draws, with its rejections.
//!
//! Objects are then moved again by the initial state, but fixtures stay, and
//! they come from the same stream. Source: LIBERO-PRO 0.1.1
//! `envs/bddl_base_domain.py` (`_add_placement_initializer`, `_reset_internal`)
//! and `envs/regions`; robosuite 1.4.0 `utils/placement_samplers.py`.

use thiserror::Error;

use crate::{
    bddl::{Predicate, Problem},
    catalog::{Articulation, Axis, Rotation},
    mjcf::{Composition, Object, RegionSite},
    rng::NumpyRandom,
};

/// Tries for one placement before the whole reset starts over.
const TRIES: usize = 5000;
/// How far above a surface objects are dropped, metres.
const DROP: f64 = 0.01;

/// A start that can't be sampled.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum PlanError {
    /// A statement about something that isn't there, or of the wrong kind.
    #[error("the task starts with {thing:?} {relation} {place:?}, but {problem}")]
    Impossible {
        /// What is placed or set.
        thing: String,
        /// How.
        relation: &'static str,
        /// Where.
        place: String,
        /// Why it can't be.
        problem: String,
    },
}

impl PlanError {
    /// The names in the task's statement.
    pub fn names(&self) -> Vec<&str> {
        let Self::Impossible { thing, place, .. } = self;
        [thing.as_str(), place].into_iter().filter(|name| !name.is_empty()).collect()
    }
}

/// A thing's pose in the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// Index into the scene's objects.
    pub object: usize,
    /// Metres.
    pub position: [f64; 3],
    /// As written into the simulation, which reads (w, x, y, z). For objects on a
    /// surface the reference writes (x, y, z, w); so does this.
    pub quaternion: [f64; 4],
}

/// Everything a reset draws, in order.
#[derive(Debug, Clone)]
pub struct PlacementPlan {
    /// Joints set to a position drawn from a range, before anything is placed.
    pub joints: Vec<JointDraw>,
    draws: Vec<Draw>,
    extents: Vec<Extent>,
}

/// Joints that start at one drawn position.
#[derive(Debug, Clone, PartialEq)]
pub struct JointDraw {
    /// Their names.
    pub joints: Vec<String>,
    /// Lowest and highest position.
    pub range: [f64; 2],
}

#[derive(Debug, Clone)]
struct Draw {
    object: usize,
    /// Rectangles in x and y about the anchor.
    rectangles: Vec<[f64; 4]>,
    /// How far from a rectangle's edges, metres.
    inset: f64,
    /// Whether it must keep clear of what was placed before.
    check: bool,
    height: f64,
    anchor: Anchor,
    turn: Turn,
}

#[derive(Debug, Clone)]
enum Anchor {
    Point([f64; 3]),
    /// The top of an object.
    Top(usize),
    /// A site of an object, seen from its origin or its top.
    Site {
        object: usize,
        site: String,
        from_top: bool,
    },
}

#[derive(Debug, Clone)]
enum Turn {
    /// About the vertical, written (w, x, y, z).
    Yaw([f64; 2]),
    /// The category's rotation, written (x, y, z, w).
    Category(Rotation),
}

/// How much room a thing takes when it is placed, metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// Horizontal radius to keep free.
    pub radius: f64,
    /// Its highest point above its origin.
    pub top: f64,
    /// Its lowest point above its origin (negative).
    pub bottom: f64,
}

/// Nothing fits: the reference then repeats the whole reset on the same stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crowded {
    /// The object that found no place.
    pub object: usize,
}

impl PlacementPlan {
    /// Reads the plan off the problem's initial statements.
    ///
    /// # Errors
    /// [`PlanError::Impossible`] when the reference could not sample it either.
    pub fn new(problem: &Problem, composition: &Composition) -> Result<Self, PlanError> {
        let planner = Planner { problem, composition };
        let mut joints = Vec::new();
        let (mut surface, mut on_sites, mut on_objects, mut inside) =
            (vec![], vec![], vec![], vec![]);
        for statement in &problem.init {
            match statement {
                Predicate::On(thing, place) => {
                    if planner.movable(place).is_some() {
                        on_objects.push(planner.on_object(thing, place)?);
                    } else if let Some(region) = problem.region(place) {
                        match planner.object(&region.target) {
                            Some(_) => {
                                on_sites.push(planner.on_site(thing, place, &region.target)?)
                            }
                            None => surface.push(planner.on_surface(thing, place)?),
                        }
                    }
                }
                Predicate::In(thing, place) => {
                    if let Some(region) = problem.region(place) {
                        inside.push(planner.inside(thing, place, &region.target)?);
                    }
                }
                Predicate::Open(thing) => joints.push(planner.joints(thing, "open")?),
                Predicate::Close(thing) => joints.push(planner.joints(thing, "closed")?),
                Predicate::TurnOn(thing) => joints.push(planner.joints(thing, "turned on")?),
                Predicate::TurnOff(thing) => joints.push(planner.joints(thing, "turned off")?),
            }
        }
        let draws: Vec<Draw> = [surface, on_sites, inside, on_objects].concat();
        for (index, draw) in draws.iter().enumerate() {
            if draws[..index].iter().any(|earlier| earlier.object == draw.object) {
                let thing = &composition.objects[draw.object].name;
                return Err(impossible(thing, "placed", thing, "it is placed twice"));
            }
            let anchor = match draw.anchor {
                Anchor::Point(_) => continue,
                Anchor::Top(object) | Anchor::Site { object, .. } => object,
            };
            if !draws[..index].iter().any(|earlier| earlier.object == anchor) {
                let thing = &composition.objects[draw.object].name;
                let place = &composition.objects[anchor].name;
                return Err(impossible(thing, "on", place, "that is placed later or not at all"));
            }
        }
        let extent = |object: &Object| Extent {
            radius: object.radius,
            top: object.top,
            bottom: object.bottom,
        };
        let extents = composition.objects.iter().map(extent).collect();
        Ok(Self { joints, draws, extents })
    }

    /// How much room each object takes.
    pub fn extents(&self) -> &[Extent] {
        &self.extents
    }

    /// Draws a place for everything.
    ///
    /// `site` gives a site's position in the world, with drawers as they were
    /// drawn and fixtures still where the model has them.
    ///
    /// # Errors
    /// [`Crowded`] when an object finds no place in 5,000 tries.
    pub fn sample(
        &self,
        rng: &mut NumpyRandom,
        mut site: impl FnMut(&str) -> [f64; 3],
    ) -> Result<Vec<Placement>, Crowded> {
        let mut placed: Vec<Placement> = Vec::with_capacity(self.draws.len());
        for draw in &self.draws {
            let placement = self.place(draw, &placed, rng, &mut site)?;
            placed.push(placement);
        }
        Ok(placed)
    }

    fn place(
        &self,
        draw: &Draw,
        placed: &[Placement],
        rng: &mut NumpyRandom,
        site: &mut impl FnMut(&str) -> [f64; 3],
    ) -> Result<Placement, Crowded> {
        let extent = self.extents[draw.object];
        let (base, offset) = self.anchor(&draw.anchor, placed, site);
        for _ in 0..TRIES {
            let index = rng.below(draw.rectangles.len() as u32) as usize;
            let [x0, y0, x1, y1] = draw.rectangles[index];
            let x = rng.uniform(x0 + draw.inset, x1 - draw.inset) + base[0] + offset[0];
            let y = rng.uniform(y0 + draw.inset, y1 - draw.inset) + base[1] + offset[1];
            let z = draw.height + base[2] + offset[2] - extent.bottom;
            let position = [x, y, z];
            if draw.check && placed.iter().any(|other| self.overlaps(extent, position, other)) {
                continue;
            }
            let quaternion = draw_turn(&draw.turn, rng);
            return Ok(Placement { object: draw.object, position, quaternion });
        }
        Err(Crowded { object: draw.object })
    }

    fn anchor(
        &self,
        anchor: &Anchor,
        placed: &[Placement],
        site: &mut impl FnMut(&str) -> [f64; 3],
    ) -> ([f64; 3], [f64; 3]) {
        // The plan makes sure that an anchor was placed before.
        let of = |object: usize| placed.iter().find(|placement| placement.object == object);
        match anchor {
            Anchor::Point(point) => (*point, [0.0; 3]),
            Anchor::Top(object) => {
                let [x, y, z] = of(*object).map_or([0.0; 3], |placement| placement.position);
                ([x, y, z + self.extents[*object].top], [0.0; 3])
            }
            Anchor::Site { object, site: name, from_top } => {
                let (position, quaternion) = of(*object)
                    .map_or(([0.0; 3], [1.0, 0.0, 0.0, 0.0]), |placement| {
                        (placement.position, placement.quaternion)
                    });
                let [x, y, z] = position;
                let top = if *from_top { self.extents[*object].top } else { 0.0 };
                ([x, y, z + top], rotate(quaternion, site(name)))
            }
        }
    }

    fn overlaps(&self, extent: Extent, position: [f64; 3], other: &Placement) -> bool {
        let across = [position[0] - other.position[0], position[1] - other.position[1]];
        let distance = (across[0] * across[0] + across[1] * across[1]).sqrt();
        let below = self.extents[other.object];
        distance <= below.radius + extent.radius
            && position[2] - other.position[2] <= below.top - extent.bottom
    }
}

/// Finds what statements speak of.
struct Planner<'a> {
    problem: &'a Problem,
    composition: &'a Composition,
}

impl Planner<'_> {
    fn object(&self, name: &str) -> Option<usize> {
        self.composition.objects.iter().position(|object| object.name == name)
    }

    fn movable(&self, name: &str) -> Option<usize> {
        self.object(name).filter(|&index| !self.composition.objects[index].fixture)
    }

    fn placed(&self, thing: &str, relation: &'static str, place: &str) -> Result<usize, PlanError> {
        self.movable(thing)
            .ok_or_else(|| impossible(thing, relation, place, "it is not a movable object"))
    }

    fn on_surface(&self, thing: &str, place: &str) -> Result<Draw, PlanError> {
        let fault = |problem: &str| impossible(thing, "on", place, problem);
        let region = self.problem.region(place).ok_or_else(|| fault("there is no such region"))?;
        let object = self.object(thing).ok_or_else(|| fault("the first is not in the scene"))?;
        if region.ranges.is_empty() {
            return Err(fault("the region has no :ranges"));
        }
        let workspace = self.composition.workspace;
        let anchor = Anchor::Point(workspace.origin);
        let rectangles = region.ranges.clone();
        let model = &self.composition.objects[object];
        if model.fixture {
            let yaw = spread(&region.yaw).ok_or_else(|| fault("its yaw rotation is empty"))?;
            let (height, turn) = (workspace.fixture_height, Turn::Yaw(yaw));
            return Ok(Draw { object, rectangles, inset: 0.0, check: false, height, anchor, turn });
        }
        if self.problem.category(&region.target) != Some(workspace.category) {
            return Err(fault("the region is not on the workspace"));
        }
        let inset = if workspace.keep_inside { model.radius } else { 0.0 };
        let turn = Turn::Category(model.category.rotation);
        Ok(Draw { object, rectangles, inset, check: true, height: DROP, anchor, turn })
    }

    fn on_site(&self, thing: &str, place: &str, target: &str) -> Result<Draw, PlanError> {
        let object = self.placed(thing, "on", place)?;
        let site = self.site(thing, "on", place)?;
        let model = &self.composition.objects[object];
        let [x, y, _] = site.size;
        let anchor = self.site_anchor(thing, place, target, true)?;
        Ok(Draw {
            object,
            rectangles: vec![[-x / 2.0, -y / 2.0, x / 2.0, y / 2.0]],
            inset: model.radius,
            check: true,
            height: 0.0,
            anchor,
            turn: Turn::Category(model.category.rotation),
        })
    }

    fn inside(&self, thing: &str, place: &str, target: &str) -> Result<Draw, PlanError> {
        let object = self.placed(thing, "in", place)?;
        self.site(thing, "in", place)?;
        Ok(Draw {
            object,
            rectangles: vec![[0.0; 4]],
            inset: 0.0,
            check: true,
            height: 0.0,
            anchor: self.site_anchor(thing, place, target, false)?,
            turn: Turn::Category(self.composition.objects[object].category.rotation),
        })
    }

    fn on_object(&self, thing: &str, place: &str) -> Result<Draw, PlanError> {
        let object = self.placed(thing, "on", place)?;
        let below = self.placed(place, "under", thing)?;
        Ok(Draw {
            object,
            rectangles: vec![[0.0; 4]],
            inset: 0.0,
            check: false,
            height: DROP,
            anchor: Anchor::Top(below),
            turn: Turn::Category(self.composition.objects[object].category.rotation),
        })
    }

    fn site_anchor(
        &self,
        thing: &str,
        place: &str,
        target: &str,
        from_top: bool,
    ) -> Result<Anchor, PlanError> {
        let object = self.object(target);
        let object = object
            .ok_or_else(|| impossible(thing, "on", place, "its target is not in the scene"))?;
        Ok(Anchor::Site { object, site: place.to_owned(), from_top })
    }

    fn site(
        &self,
        thing: &str,
        relation: &'static str,
        place: &str,
    ) -> Result<RegionSite, PlanError> {
        let mut sites =
            self.composition.objects.iter().filter_map(|object| object.region_site(place));
        sites
            .next_back()
            .ok_or_else(|| impossible(thing, relation, place, "no model has that site"))
    }

    fn joints(&self, thing: &str, state: &'static str) -> Result<JointDraw, PlanError> {
        let fault = |problem: &str| impossible(thing, "being", state, problem);
        let objects = &self.composition.objects;
        let by_site =
            || objects.iter().find_map(|object| Some((object, object.region_site(thing)?.joints)));
        let found = match self.object(thing) {
            Some(index) => Some((&objects[index], objects[index].joints.clone())),
            None => by_site(),
        };
        let (object, joints) = found.ok_or_else(|| fault("it is not in the scene"))?;
        let range = match (object.category.articulation, state) {
            (Some(Articulation::Opening { open, .. }), "open") => open,
            (Some(Articulation::Opening { close, .. }), "closed") => close,
            (Some(Articulation::Switch { on, .. }), "turned on") => on,
            (Some(Articulation::Switch { off, .. }), "turned off") => off,
            _ => return Err(fault("its category has no such state")),
        };
        if !object.fixture {
            return Err(fault("it is not fixed"));
        }
        Ok(JointDraw { joints, range })
    }
}

fn impossible(thing: &str, relation: &'static str, place: &str, problem: &str) -> PlanError {
    PlanError::Impossible {
        thing: thing.to_owned(),
        relation,
        place: place.to_owned(),
        problem: problem.to_owned(),
    }
}

fn spread(values: &[f64]) -> Option<[f64; 2]> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some([low, high])
}

fn draw_turn(turn: &Turn, rng: &mut NumpyRandom) -> [f64; 4] {
    match turn {
        Turn::Yaw([low, high]) => {
            let half = rng.uniform(*low, *high) / 2.0;
            [half.cos(), 0.0, 0.0, half.sin()]
        }
        Turn::Category(Rotation::Single(axis, [low, high])) => {
            about(*axis, rng.uniform(*low, *high))
        }
        Turn::Category(Rotation::Several(turns)) => {
            let mut quaternion = [0.0, 0.0, 0.0, 1.0];
            for (axis, [low, high]) in *turns {
                quaternion = multiply(about(*axis, rng.uniform(*low, *high)), quaternion);
            }
            quaternion
        }
    }
}

/// A turn about one axis as (x, y, z, w).
fn about(axis: Axis, angle: f64) -> [f64; 4] {
    let (sine, cosine) = ((angle / 2.0).sin(), (angle / 2.0).cos());
    match axis {
        Axis::X => [sine, 0.0, 0.0, cosine],
        Axis::Y => [0.0, sine, 0.0, cosine],
        Axis::Z => [0.0, 0.0, sine, cosine],
    }
}

/// robosuite's `quat_multiply` of (x, y, z, w), which rounds its result to 32 bits.
fn multiply([x1, y1, z1, w1]: [f64; 4], [x0, y0, z0, w0]: [f64; 4]) -> [f64; 4] {
    [
        x1 * w0 + y1 * z0 - z1 * y0 + w1 * x0,
        -x1 * z0 + y1 * w0 + z1 * x0 + w1 * y0,
        x1 * y0 - y1 * x0 + z1 * w0 + w1 * z0,
        -x1 * x0 - y1 * y0 - z1 * z0 + w1 * w0,
    ]
    .map(|value| f64::from(value as f32))
}

/// robosuite's `quat2mat` of (w, x, y, z), compiled with 32-bit steps, times a vector.
fn rotate(quaternion: [f64; 4], vector: [f64; 3]) -> [f64; 3] {
    let q = quaternion.map(|value| value as f32);
    let norm: f32 = q.iter().map(|value| value * value).sum();
    if f64::from(norm) < 4.0 * f64::EPSILON {
        return vector;
    }
    let scale = (2.0 / f64::from(norm)).sqrt();
    let q = q.map(|value| (f64::from(value) * scale) as f32);
    let product = |i: usize, j: usize| q[i] * q[j];
    let diagonal = |i: usize, j: usize| 1.0 - f64::from(product(i, i)) - f64::from(product(j, j));
    let sum = |a: f32, b: f32| f64::from(a + b);
    let difference = |a: f32, b: f32| f64::from(a - b);
    let rows = [
        [
            diagonal(2, 3),
            difference(product(1, 2), product(3, 0)),
            sum(product(1, 3), product(2, 0)),
        ],
        [
            sum(product(1, 2), product(3, 0)),
            diagonal(1, 3),
            difference(product(2, 3), product(1, 0)),
        ],
        [
            difference(product(1, 3), product(2, 0)),
            sum(product(2, 3), product(1, 0)),
            diagonal(1, 2),
        ],
    ];
    let [x, y, z] = vector;
    // The order and roundings of NumPy's matrix product.
    rows.map(|row| row[2].mul_add(z, row[0].mul_add(x, row[1] * y)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_written_as_the_reference_writes_them() {
        let mut rng = NumpyRandom::new(0);
        let yaw = draw_turn(&Turn::Yaw([0.0, 0.0]), &mut rng);
        assert_eq!(yaw, [1.0, 0.0, 0.0, 0.0]);
        let object = draw_turn(&Turn::Category(Rotation::Single(Axis::X, [0.0, 0.0])), &mut rng);
        assert_eq!(object, [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_half_turn_reverses_a_vector() {
        let turned = rotate([0.0, 0.0, 0.0, 1.0], [1.0, 2.0, 3.0]);
        for (found, expected) in turned.iter().zip([-1.0, -2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-6, "{turned:?}");
        }
        assert_eq!(rotate([0.0; 4], [1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
    }
}
