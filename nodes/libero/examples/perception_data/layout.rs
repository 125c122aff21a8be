//! Where things lie and how the arm stands: physically plausible, and unlike the benchmark's
//! own starts.

use std::f64::consts::{FRAC_PI_2, PI};

use eyre::{Result, eyre};
use libero::names::SceneObject;
use libero::physics::Physics;
use libero::plant::HOME;
use libero::rng::NumpyRandom;
use nalgebra::{Matrix3, Matrix6, Quaternion, SMatrix, UnitQuaternion, Vector3, Vector6};

use crate::scenery::Scenery;

/// Tries to find a place for everything.
const TRIES: u32 = 30;
/// Physics steps in which things come to rest.
const REST: u32 = 300;
/// How fast things come to rest, metres and radians a second.
const FASTEST: f64 = 0.7;
const FASTEST_TURN: f64 = 6.0;
/// Steps of the search for joint angles.
const REACH: u32 = 25;

/// Everything but the arm, at rest.
pub struct Layout {
    qpos: Vec<f64>,
}

impl Layout {
    /// Draws a layout: places of the task, or of our own, or some of both.
    pub fn draw(scenery: &mut Scenery, rng: &mut NumpyRandom) -> Result<Self> {
        for _ in 0..TRIES {
            scenery.physics.reset();
            restore_fixtures(scenery);
            go_home(scenery);
            move_joints(scenery, rng);
            if !place(scenery, rng) {
                continue;
            }
            shuffle(scenery, rng);
            rest(scenery);
            if scenery.physics.check_stable().is_ok() {
                scenery.show_burners();
                return Ok(Self { qpos: scenery.physics.qpos().to_vec() });
            }
        }
        Err(eyre!("things find no place"))
    }

    /// Goes back to the layout and poses the arm, now and then with a thing in the gripper.
    pub fn pose_arm(&self, scenery: &mut Scenery, rng: &mut NumpyRandom) {
        scenery.physics.qpos_mut().copy_from_slice(&self.qpos);
        pose_arm(scenery, rng);
        if rng.random() < 0.25 {
            hold_something(scenery, rng);
        }
    }
}

/// Poses the arm over one of the things, or anywhere over the workspace.
pub fn pose_arm(scenery: &mut Scenery, rng: &mut NumpyRandom) {
    go_home(scenery);
    scenery.physics.kinematics();
    let [x0, y0, x1, y1] = scenery.area;
    let mut target = Vector3::new(
        rng.uniform(x0 - 0.1, x1 + 0.1),
        rng.uniform(y0 - 0.1, y1 + 0.1),
        scenery.workspace.origin[2],
    );
    let objects = &scenery.names.objects;
    let over = &objects[rng.below(objects.len() as u32) as usize];
    if rng.random() < 0.7 {
        let [x, y, z] = scenery.physics.xpos()[over.body];
        let near = |at: f64, rng: &mut NumpyRandom| at + 0.06 * rng.standard_normal();
        target = Vector3::new(near(x, rng), near(y, rng), z.max(target.z));
    }
    target.z += rng.uniform(0.06, 0.35);
    let yaw = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), rng.uniform(-PI, PI) / 2.0);
    let tilt = Vector3::from_fn(|_, _| 0.12 * rng.standard_normal());
    reach(scenery, target, yaw * UnitQuaternion::from_scaled_axis(tilt));
    let open = rng.uniform(0.0, 0.04);
    set_fingers(scenery, open);
    scenery.physics.kinematics();
}

fn go_home(scenery: &mut Scenery) {
    for (joint, home) in scenery.names.arm_joints.iter().zip(HOME) {
        scenery.physics.qpos_mut()[joint.qpos] = home;
    }
    set_fingers(scenery, 0.02);
}

/// Back to where the model has them, from where placements on them are reckoned.
fn restore_fixtures(scenery: &mut Scenery) {
    let view = scenery.physics.view_mut();
    for fixture in scenery.names.objects.iter().filter(|object| object.fixture) {
        let position = view.base().body_pos()[fixture.body];
        let quaternion = view.base().body_quat()[fixture.body];
        view.set_body_pose(fixture.body, position, quaternion);
    }
}

fn set_fingers(scenery: &mut Scenery, open: f64) {
    for (joint, side) in scenery.names.finger_joints.iter().zip([1.0, -1.0]) {
        scenery.physics.qpos_mut()[joint.qpos] = side * open;
    }
}

/// Opens doors and drawers and turns knobs, or leaves them.
fn move_joints(scenery: &mut Scenery, rng: &mut NumpyRandom) {
    for object in &scenery.names.objects {
        for joint in object.joints.iter().filter(|joint| !joint.free) {
            let [low, high] = scenery.physics.view().base().jnt_range()[joint.id];
            scenery.physics.qpos_mut()[joint.qpos] = match rng.below(5) {
                0 => low,
                1 => high,
                2 => rng.uniform(low, high),
                _ => 0.0,
            };
        }
    }
}

/// Places everything as the task would. False when something finds no place.
fn place(scenery: &mut Scenery, rng: &mut NumpyRandom) -> bool {
    scenery.physics.kinematics();
    let Scenery { names, physics, plan, .. } = scenery;
    let site =
        |name: &str| names.region(name).map_or([0.0; 3], |region| physics.site_xpos()[region.site]);
    let Ok(placements) = plan.sample(rng, site) else { return false };
    for placement in placements {
        let object = &names.objects[placement.object];
        let [mut x, mut y, z] = placement.position;
        let mut quaternion = placement.quaternion;
        if object.fixture {
            x += 0.03 * rng.standard_normal();
            y += 0.03 * rng.standard_normal();
            let yaw = Vector3::new(0.0, 0.0, 0.1 * rng.standard_normal());
            quaternion = turned(quaternion, UnitQuaternion::from_scaled_axis(yaw));
            physics.view_mut().set_body_pose(object.body, [x, y, z], quaternion);
        } else {
            set_free(physics, object, [x, y, z], quaternion);
        }
    }
    true
}

/// Moves some things elsewhere: beside, on or in each other, upright or fallen over.
fn shuffle(scenery: &mut Scenery, rng: &mut NumpyRandom) {
    scenery.physics.kinematics();
    let share = [0.0, 0.4, 1.0][rng.below(3) as usize];
    let [x0, y0, x1, y1] = scenery.area;
    let extents = scenery.plan.extents().to_vec();
    for index in 0..scenery.names.objects.len() {
        let object = scenery.names.objects[index].clone();
        if object.fixture || rng.random() >= share {
            continue;
        }
        let Some([.., qw, qx, qy, qz]) = free_pose(&scenery.physics, &object) else { continue };
        let places: Vec<[f64; 3]> =
            scenery.names.objects.iter().map(|other| scenery.physics.xpos()[other.body]).collect();
        let mut at = [0.0; 3];
        let stacked = rng.random() < 0.2;
        if stacked {
            let below = rng.below(places.len() as u32) as usize;
            let [x, y, z] = places[below];
            at = [x, y, z + extents[below].top.max(0.02) - extents[index].bottom + 0.01];
        } else {
            for _ in 0..50 {
                at = [
                    rng.uniform(x0, x1),
                    rng.uniform(y0, y1),
                    scenery.workspace.origin[2] - extents[index].bottom + 0.01,
                ];
                let free = places.iter().enumerate().all(|(other, place)| {
                    let room = extents[other].radius + extents[index].radius;
                    other == index || (place[0] - at[0]).hypot(place[1] - at[1]) > room
                });
                if free {
                    break;
                }
            }
        }
        let yaw = Vector3::new(0.0, 0.0, rng.uniform(-PI, PI));
        let mut turn = UnitQuaternion::from_scaled_axis(yaw);
        if rng.random() < 0.12 {
            let axis = Vector3::new(rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0), 0.0);
            turn *= UnitQuaternion::from_scaled_axis(axis.normalize() * FRAC_PI_2);
            at[2] += 0.06;
        }
        let quaternion = turned([qw, qx, qy, qz], turn);
        set_free(&mut scenery.physics, &object, at, quaternion);
        scenery.physics.kinematics();
    }
}

/// Lets things fall and come to rest while the arm stands still.
fn rest(scenery: &mut Scenery) {
    let (joints, fingers) = (scenery.names.arm_joints, scenery.names.finger_joints);
    let held: Vec<_> = joints.iter().chain(&fingers).copied().collect();
    let at: Vec<f64> = held.iter().map(|joint| scenery.physics.qpos()[joint.qpos]).collect();
    for _ in 0..REST {
        scenery.physics.step();
        for (joint, &at) in held.iter().zip(&at) {
            scenery.physics.qpos_mut()[joint.qpos] = at;
            scenery.physics.qvel_mut()[joint.dof] = 0.0;
        }
        slow_down(scenery);
    }
}

/// Things that were placed into each other part without flying off.
fn slow_down(scenery: &mut Scenery) {
    for object in &scenery.names.objects {
        for joint in object.joints.iter().filter(|joint| joint.free) {
            let velocities = &mut scenery.physics.qvel_mut()[joint.dof..joint.dof + 6];
            for (index, velocity) in velocities.iter_mut().enumerate() {
                let most = if index < 3 { FASTEST } else { FASTEST_TURN };
                *velocity = velocity.clamp(-most, most);
            }
        }
    }
}

/// Puts one of the things between the fingers.
fn hold_something(scenery: &mut Scenery, rng: &mut NumpyRandom) {
    let movable: Vec<&SceneObject> =
        scenery.names.objects.iter().filter(|object| !object.fixture).collect();
    if movable.is_empty() {
        return;
    }
    let object = movable[rng.below(movable.len() as u32) as usize];
    let Some([.., qw, qx, qy, qz]) = free_pose(&scenery.physics, object) else { return };
    let eef = scenery.physics.site_xpos()[scenery.names.eef_site];
    let at = eef.map(|x| x + 0.015 * rng.standard_normal());
    let turn = Vector3::new(
        0.3 * rng.standard_normal(),
        0.3 * rng.standard_normal(),
        rng.uniform(-PI, PI),
    );
    let quaternion = turned([qw, qx, qy, qz], UnitQuaternion::from_scaled_axis(turn));
    set_free(&mut scenery.physics, object, at, quaternion);
    scenery.physics.kinematics();
}

/// Damped least squares towards a point and a turn of the hand away from home.
fn reach(scenery: &mut Scenery, target: Vector3<f64>, turn: UnitQuaternion<f64>) {
    let site = scenery.names.eef_site;
    let dofs = scenery.physics.view().raw().nv as usize;
    let rotation = |physics: &Physics| Matrix3::from_row_slice(&physics.site_xmat()[site]);
    let wanted = turn.to_rotation_matrix() * rotation(&scenery.physics);
    let mut jacobian = vec![0.0; 6 * dofs];
    for _ in 0..REACH {
        scenery.physics.site_jacobian(site, &mut jacobian);
        let here = rotation(&scenery.physics);
        let mut turning = Vector3::zeros();
        for axis in 0..3 {
            turning += here.column(axis).cross(&wanted.column(axis)) * 0.5;
        }
        let away = target - Vector3::from(scenery.physics.site_xpos()[site]);
        let away = away * (0.1 / away.norm().max(0.1));
        let error = Vector6::new(away.x, away.y, away.z, turning.x, turning.y, turning.z);
        let arm = scenery.names.arm_joints;
        let columns =
            SMatrix::<f64, 6, 7>::from_fn(|row, joint| jacobian[row * dofs + arm[joint].dof]);
        let damped = columns * columns.transpose() + Matrix6::identity() * 1e-3;
        let Some(inverse) = damped.try_inverse() else { return };
        let step = columns.transpose() * inverse * error;
        for (joint, step) in arm.iter().zip(step.iter()) {
            let [low, high] = scenery.physics.view().base().jnt_range()[joint.id];
            let qpos = &mut scenery.physics.qpos_mut()[joint.qpos];
            *qpos = (*qpos + step).clamp(low, high);
        }
        scenery.physics.kinematics();
    }
}

fn free_pose(physics: &Physics, object: &SceneObject) -> Option<[f64; 7]> {
    let joint = object.joints.iter().rfind(|joint| joint.free)?;
    physics.qpos()[joint.qpos..joint.qpos + 7].try_into().ok()
}

fn set_free(physics: &mut Physics, object: &SceneObject, at: [f64; 3], quaternion: [f64; 4]) {
    if let Some(joint) = object.joints.iter().rfind(|joint| joint.free) {
        let pose = &mut physics.qpos_mut()[joint.qpos..joint.qpos + 7];
        pose[..3].copy_from_slice(&at);
        pose[3..].copy_from_slice(&quaternion);
    }
}

/// A quaternion (w, x, y, z) turned further, about the world's axes.
fn turned([w, x, y, z]: [f64; 4], turn: UnitQuaternion<f64>) -> [f64; 4] {
    let q = turn * UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
    [q.w, q.i, q.j, q.k]
}
