//! A task's compiled scene, and how an episode in it starts.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use mujoco_rs::{error::MjModelError, wrappers::MjModel};
use thiserror::Error;

use crate::{
    bddl::{self, BddlError, Problem},
    data::Data,
    init_states::{InitStates, InitStatesError},
    mjcf::{self, Composition, MjcfError},
    names::{NameError, SceneNames},
    physics::Physics,
    plant::{HOME, HOME_FINGERS},
    predicates::Goal,
    rng::NumpyRandom,
    sampler::{Crowded, Extent, Placement, PlacementPlan},
    suites::{self, SuiteError, Task, TaskError},
    visual_model::{self, VisualModel},
};

/// How often a reset starts over when something finds no place.
const MAX_ATTEMPTS: u32 = 100;

/// Why a scene could not be loaded or reset.
#[derive(Debug, Error)]
pub enum SceneError {
    /// No such suite or task.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// The task file can't be used.
    #[error(transparent)]
    Bddl(#[from] BddlError),
    /// The initial states can't be used.
    #[error(transparent)]
    InitStates(#[from] InitStatesError),
    /// A model file can't be used.
    #[error(transparent)]
    Mjcf(MjcfError),
    /// The task file names what the benchmark or the scene does not have.
    #[error("{path:?}, line {line}: {reason}")]
    Task {
        /// The task file.
        path: PathBuf,
        /// The line that names it, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// MuJoCo refuses the model.
    #[error("MuJoCo can't compile {suite} task {task}: {source}: run `./rua setup`")]
    Compile {
        /// The suite.
        suite: String,
        /// The task.
        task: usize,
        /// What MuJoCo says.
        source: MjModelError,
    },
    /// The model lacks a part.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The initial states belong to another model.
    #[error(
        "{suite} task {task}: an initial state has {found} numbers, the scene needs {expected}: run `./rua setup`"
    )]
    Width {
        /// The suite.
        suite: String,
        /// The task.
        task: usize,
        /// Numbers in a state.
        found: usize,
        /// 1 + nq + nv.
        expected: usize,
    },
    /// NumPy's seeds have 32 bits.
    #[error("seed {seed} is out of range: seeds are 0 to 4294967295")]
    Seed {
        /// The seed asked for.
        seed: u64,
    },
    /// The physics was made for another model.
    #[error("the physics belongs to another scene")]
    OtherModel,
    /// Nothing fits, again and again.
    #[error("{suite} task {task}, seed {seed}: {object:?} finds no free place: try another seed")]
    Crowded {
        /// The suite.
        suite: String,
        /// The task.
        task: usize,
        /// The seed.
        seed: u64,
        /// The object.
        object: String,
    },
}

/// A task, compiled.
///
/// The model stays as it is compiled; what a reset moves, fixtures, lies in the
/// physics' own view of it.
pub struct Scene {
    /// The compiled model without its looks, with the sites of gripper, objects and fixtures
    /// hidden. Its physics is the reference's, bit for bit.
    pub model: Arc<MjModel>,
    /// The model with its looks, for pictures; ids and states are the same.
    pub visual_model: Arc<VisualModel>,
    /// The task.
    pub task: Task,
    /// What its file says.
    pub problem: Problem,
    /// Ids and addresses.
    pub names: SceneNames,
    /// What must hold for the task to be solved.
    pub goal: Goal,
    /// The states that episodes start from.
    pub init_states: InitStates,
    plan: PlacementPlan,
    /// Addresses in `qpos` and ranges of the joints that the task sets at the start.
    joint_draws: Vec<(Vec<usize>, [f64; 2])>,
    /// MuJoCo's state with the arm at home, as a reset comes by it.
    at_home: OnceLock<Vec<f64>>,
}

/// How a reset went.
#[derive(Debug, Clone, PartialEq)]
pub struct ResetInfo {
    /// Index of the initial state.
    pub init_state: usize,
    /// 1, or more when something found no place and the reset started over.
    pub attempts: u32,
    /// Poses of the fixtures, which the seed decides.
    pub fixtures: Vec<FixturePose>,
}

/// Where a fixture stands.
#[derive(Debug, Clone, PartialEq)]
pub struct FixturePose {
    /// Its root body.
    pub body: usize,
    /// World frame, metres.
    pub position: [f64; 3],
    /// (w, x, y, z).
    pub quaternion: [f64; 4],
}

impl Scene {
    /// Composes and compiles a task's scene.
    ///
    /// # Errors
    /// [`SceneError`]; each message says what to do.
    pub fn load(data: &Data, suite: &str, task: usize) -> Result<Self, SceneError> {
        let (task, problem) = match suites::find(data, suite)?.task(data, task) {
            Ok(found) => found,
            Err(TaskError::Suite(error)) => return Err(error.into()),
            Err(TaskError::Bddl(error)) => return Err(error.into()),
        };
        let composition = mjcf::compose(data, &problem).map_err(|error| match error {
            MjcfError::UnknownCategory { ref category, .. } => fault(&task, &[category], &error),
            MjcfError::UnknownWorkspace { ref class } => fault(&task, &[class], &error),
            MjcfError::NoRanges { ref region } => fault(&task, &[region], &error),
            other => SceneError::Mjcf(other),
        })?;
        let plan = PlacementPlan::new(&problem, &composition)
            .map_err(|error| fault(&task, &error.names(), &error))?;
        let init_states = InitStates::read(&task.init_states)?;
        let mut model = MjModel::from_xml_string(&composition.physics_xml).map_err(|source| {
            SceneError::Compile { suite: task.suite.clone(), task: task.index, source }
        })?;
        let expected = 1 + model.nq() as usize + model.nv() as usize;
        if init_states.width() != expected {
            let found = init_states.width();
            return Err(SceneError::Width { suite: task.suite, task: task.index, found, expected });
        }
        let names = SceneNames::find(&model, &composition, &problem.regions)?;
        let goal = Goal::new(&problem, &names)
            .map_err(|error| fault(&task, error.name().as_slice(), &error))?;
        let hidden = hidden_sites(&model, &composition)?;
        visual_model::hide_sites(&mut model, &hidden);
        let joint_draws = joint_draws(&model, &plan)?;
        let visual_model = VisualModel::new(composition.visual_xml, hidden, &model);
        Ok(Self {
            model: Arc::new(model),
            visual_model: Arc::new(visual_model),
            task,
            problem,
            names,
            goal,
            init_states,
            plan,
            joint_draws,
            at_home: OnceLock::new(),
        })
    }

    /// Starts an episode as the reference does: seed, one reset, then initial
    /// state `seed` modulo their count.
    ///
    /// The physics goes through the reference's forward passes and no more, so
    /// that its solver's warm start is the same too. The reference's controller
    /// is made on the way, with the arm at home, and isn't told of the initial
    /// state: its first substep acts on the home pose.
    ///
    /// # Errors
    /// [`SceneError::Seed`], [`SceneError::Crowded`], [`SceneError::OtherModel`].
    pub fn reset(&self, physics: &mut Physics, seed: u64) -> Result<ResetInfo, SceneError> {
        let mut info = self.place(physics, seed)?;
        info.init_state = (seed % self.init_states.count() as u64) as usize;
        self.start(physics, info.init_state);
        Ok(info)
    }

    /// The first half of [`Scene::reset`]: arm at home, everything else where the seed's
    /// stream puts it. Fixtures stay there.
    ///
    /// # Errors
    /// As [`Scene::reset`].
    pub fn place(&self, physics: &mut Physics, seed: u64) -> Result<ResetInfo, SceneError> {
        let stream = u32::try_from(seed).map_err(|_| SceneError::Seed { seed })?;
        if !Arc::ptr_eq(physics.view().base(), &self.model) {
            return Err(SceneError::OtherModel);
        }
        let mut rng = NumpyRandom::new(stream);
        let mut attempts = 1;
        let placements = loop {
            self.go_home(physics)?;
            match self.sample(physics, &mut rng, attempts) {
                Ok(placements) => break placements,
                Err(_) if attempts < MAX_ATTEMPTS => attempts += 1,
                Err(Crowded { object }) => {
                    return Err(SceneError::Crowded {
                        suite: self.task.suite.clone(),
                        task: self.task.index,
                        seed,
                        object: self.names.objects[object].name.clone(),
                    });
                }
            }
        };
        let fixtures = self.apply(physics, &placements);
        physics.forward();
        Ok(ResetInfo { init_state: 0, attempts, fixtures })
    }

    /// The second half: initial state `index`, modulo their count. Fixtures are not part of it.
    pub fn start(&self, physics: &mut Physics, index: usize) {
        let state = self.init_states.row(index);
        let nq = physics.qpos().len();
        physics.set_time(state[0]);
        physics.qpos_mut().copy_from_slice(&state[1..=nq]);
        physics.qvel_mut().copy_from_slice(&state[1 + nq..]);
        physics.forward();
    }

    /// How much room each object and fixture takes, in the order of the names' objects.
    pub fn extents(&self) -> &[Extent] {
        self.plan.extents()
    }

    /// One of the reference's resets up to the arm's home pose. No seed has a part in it,
    /// and its passes are slow, with all fixtures in one place: so it is made once.
    fn go_home(&self, physics: &mut Physics) -> Result<(), SceneError> {
        self.restore_view(physics);
        physics.reset();
        let home = self.at_home.get_or_init(|| {
            // After compiling, and when the renderer is made.
            physics.forward();
            physics.forward();
            for (joint, home) in self.names.arm_joints.iter().zip(HOME) {
                physics.qpos_mut()[joint.qpos] = home;
            }
            // Twice while the controller is made.
            physics.forward();
            physics.forward();
            physics.integration_state()
        });
        physics.set_integration_state(home).map_err(|_| SceneError::OtherModel)
    }

    /// The rest of it up to the placements it draws.
    fn sample(
        &self,
        physics: &mut Physics,
        rng: &mut NumpyRandom,
        attempt: u32,
    ) -> Result<Vec<Placement>, Crowded> {
        // Noise on the arm's home pose, drawn and scaled by zero.
        for _ in HOME {
            rng.standard_normal();
        }
        for (joint, home) in self.names.finger_joints.iter().zip(HOME_FINGERS) {
            physics.qpos_mut()[joint.qpos] = home;
        }
        // The list of joints to set grows by itself with each load of the model:
        // once when the environment is made, once for each reset.
        for _ in 0..=attempt {
            for (addresses, [low, high]) in &self.joint_draws {
                let position = rng.uniform(*low, *high);
                for &address in addresses {
                    physics.qpos_mut()[address] = position;
                }
            }
        }
        // For the places of sites alone.
        physics.kinematics();
        let site = |name: &str| match self.names.region(name) {
            Some(region) => physics.site_xpos()[region.site],
            None => [0.0; 3],
        };
        self.plan.sample(rng, site)
    }

    /// Puts fixtures and sites back to where the model has them.
    fn restore_view(&self, physics: &mut Physics) {
        let view = physics.view_mut();
        for fixture in self.names.objects.iter().filter(|object| object.fixture) {
            let position = self.model.body_pos()[fixture.body];
            let quaternion = self.model.body_quat()[fixture.body];
            view.set_body_pose(fixture.body, position, quaternion);
        }
        view.site_rgba_mut().copy_from_slice(self.model.site_rgba());
    }

    fn apply(&self, physics: &mut Physics, placements: &[Placement]) -> Vec<FixturePose> {
        let mut fixtures = Vec::new();
        for placement in placements {
            let Placement { position, quaternion, .. } = *placement;
            let object = &self.names.objects[placement.object];
            if object.fixture {
                physics.view_mut().set_body_pose(object.body, position, quaternion);
                fixtures.push(FixturePose { body: object.body, position, quaternion });
            } else if let Some(joint) = object.joints.iter().rfind(|joint| joint.free) {
                let qpos = &mut physics.qpos_mut()[joint.qpos..joint.qpos + 7];
                qpos[..3].copy_from_slice(&position);
                qpos[3..].copy_from_slice(&quaternion);
            }
        }
        fixtures
    }
}

/// An error at the line of the task file that says these names.
fn fault(task: &Task, names: &[&str], error: &dyn std::error::Error) -> SceneError {
    let text = std::fs::read_to_string(&task.bddl).unwrap_or_default();
    let line = bddl::line_naming(&text, names);
    SceneError::Task { path: task.bddl.clone(), line, reason: error.to_string() }
}

/// The sites of gripper, objects and fixtures, which the reference hides at every reset.
fn hidden_sites(model: &MjModel, composition: &Composition) -> Result<Vec<usize>, NameError> {
    use mujoco_rs::mujoco_c::_mjtObjBase::mjOBJ_SITE;

    let sites = composition.objects.iter().flat_map(|object| &object.sites);
    let id = |name: &String| {
        let missing = || NameError { kind: "site", name: name.clone() };
        model.name_to_id(mjOBJ_SITE, name).ok_or_else(missing)
    };
    sites.chain(&composition.gripper_sites).map(id).collect()
}

/// Position addresses of the joints that share a draw, and its range.
type AddressedDraw = (Vec<usize>, [f64; 2]);

fn joint_draws(model: &MjModel, plan: &PlacementPlan) -> Result<Vec<AddressedDraw>, NameError> {
    use mujoco_rs::mujoco_c::_mjtObjBase::mjOBJ_JOINT;

    let address = |name: &String| {
        let missing = || NameError { kind: "joint", name: name.clone() };
        let id = model.name_to_id(mjOBJ_JOINT, name).ok_or_else(missing)?;
        Ok(model.jnt_qposadr()[id] as usize)
    };
    let draw = |draw: &crate::sampler::JointDraw| {
        let addresses = draw.joints.iter().map(address).collect::<Result<_, NameError>>()?;
        Ok((addresses, draw.range))
    };
    plan.joints.iter().map(draw).collect()
}
