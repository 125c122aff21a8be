//! What the front camera sees: spheres along the arm on a chequered floor, by
//! ray casting, so that colour, depth and labels are those of the same world.

use ruaflow_schemas::{Bytes, CameraFrame, FrameRequest};

use crate::arm::{Pose, SHOULDER};

/// Vertical field of view, radians.
pub const FOV_Y: f64 = 0.8;
/// Where the camera stands, metres. It looks along -x with the world's z up.
const EYE: [f64; 3] = [2.0, 0.0, 0.5];
/// Half the side of the floor, metres.
const FLOOR: f64 = 1.0;
const SKY: [u8; 3] = [196, 214, 230];
/// Names of the labels from 1 on.
const INSTANCES: [&str; 3] = ["floor", "arm", "gripper"];

struct Sphere {
    centre: [f64; 3],
    radius: f64,
    label: u32,
}

/// What a ray meets: depth along the optical axis (m), colour, label.
type Hit = (f64, [u8; 3], u32);

pub fn draw(pose: &Pose, request: &FrameRequest, time_ns: u64) -> CameraFrame {
    let (width, height) = (request.width, request.height);
    let focal = 0.5 * f64::from(height) / (0.5 * FOV_Y).tan();
    let (cx, cy) = (0.5 * f64::from(width), 0.5 * f64::from(height));
    let spheres = spheres(pose);
    let mut frame = CameraFrame {
        control_step: request.control_step as u64,
        time_ns,
        width,
        height,
        intrinsics: [focal, 0.0, cx, 0.0, focal, cy, 0.0, 0.0, 1.0],
        // Right is +y, down is -z, forward is -x.
        camera_to_world: [
            0.0, 0.0, -1.0, EYE[0], //
            1.0, 0.0, 0.0, EYE[1], //
            0.0, -1.0, 0.0, EYE[2], //
            0.0, 0.0, 0.0, 1.0,
        ],
        ..CameraFrame::default()
    };
    let mut color = Vec::with_capacity(width as usize * height as usize * 3);
    for row in 0..height {
        for col in 0..width {
            let right = (f64::from(col) + 0.5 - cx) / focal;
            let down = (f64::from(row) + 0.5 - cy) / focal;
            let hit = look([-1.0, right, -down], &spheres);
            color.extend(hit.map_or(SKY, |(_, color, _)| color));
            if request.depth {
                frame.depth.push(hit.map_or(f32::NAN, |(depth, ..)| depth as f32));
            }
            if request.segmentation {
                frame.segmentation.push(hit.map_or(0, |(.., label)| label));
            }
        }
    }
    frame.color = Bytes(color);
    if request.segmentation {
        frame.instances = INSTANCES.map(str::to_owned).to_vec();
    }
    frame
}

/// The nearest thing along a ray from the camera. The ray goes one metre along
/// the optical axis for each unit, so its length there is the depth.
fn look(ray: [f64; 3], spheres: &[Sphere]) -> Option<Hit> {
    let hits = spheres.iter().filter_map(|sphere| {
        let depth = meet(ray, sphere)?;
        let normal: [f64; 3] =
            std::array::from_fn(|i| (EYE[i] + depth * ray[i] - sphere.centre[i]) / sphere.radius);
        let light = 0.35 + 0.65 * dot(normal, [0.6, -0.35, 0.72]).max(0.0);
        let base = if sphere.label == 2 { [230.0, 140.0, 50.0] } else { [70.0, 80.0, 95.0] };
        Some((depth, base.map(|v| (v * light) as u8), sphere.label))
    });
    hits.chain(floor(ray)).min_by(|a, b| a.0.total_cmp(&b.0))
}

fn floor(ray: [f64; 3]) -> Option<Hit> {
    let depth = -EYE[2] / ray[2];
    let (x, y) = (EYE[0] + depth * ray[0], EYE[1] + depth * ray[1]);
    let seen = depth.is_finite() && depth > 0.0 && x.abs() <= FLOOR && y.abs() <= FLOOR;
    let dark = ((x / 0.1).floor() + (y / 0.1).floor()) as i64 % 2 == 0;
    seen.then_some((depth, if dark { [150, 150, 146] } else { [178, 178, 172] }, 1))
}

fn meet(ray: [f64; 3], sphere: &Sphere) -> Option<f64> {
    let to_eye: [f64; 3] = std::array::from_fn(|i| EYE[i] - sphere.centre[i]);
    let (a, b) = (dot(ray, ray), dot(ray, to_eye));
    let root = b * b - a * (dot(to_eye, to_eye) - sphere.radius * sphere.radius);
    if root < 0.0 {
        return None;
    }
    let depth = (-b - root.sqrt()) / a;
    (depth > 0.0).then_some(depth)
}

fn spheres(pose: &Pose) -> Vec<Sphere> {
    const BEADS: u32 = 12;
    let elbow = pose.elbow();
    let links =
        [([0.0; 3], SHOULDER, 0.055), (SHOULDER, elbow, 0.045), (elbow, pose.position, 0.035)];
    let beads = links.iter().flat_map(|&(from, to, radius)| {
        (0..=BEADS).map(move |i| {
            let part = f64::from(i) / f64::from(BEADS);
            let centre = std::array::from_fn(|axis| from[axis] + part * (to[axis] - from[axis]));
            Sphere { centre, radius, label: 2 }
        })
    });
    let tips = pose.fingers().map(|centre| Sphere { centre, radius: 0.018, label: 3 });
    beads.chain(tips).collect()
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use depth_world_map::Camera;

    use super::*;

    fn picture(pose: &Pose) -> CameraFrame {
        let request = FrameRequest {
            width: 160,
            height: 120,
            depth: true,
            segmentation: true,
            ..FrameRequest::default()
        };
        draw(pose, &request, 0)
    }

    #[test]
    fn depth_and_matrices_tell_where_things_are() {
        let pose = Pose::home(5);
        let frame = picture(&pose);
        let camera = Camera::new(160, 120, frame.intrinsics, frame.camera_to_world).unwrap();
        let map = camera.world_map(&frame.depth).unwrap();
        let points = |label: u32| {
            map.chunks_exact(3)
                .zip(&frame.segmentation)
                .filter(move |(_, l)| **l == label)
                .map(|(p, _)| p)
        };
        assert!(points(1).count() > 1000 && points(1).all(|p| p[2].abs() < 1e-4));
        let near_tip = |p: &[f32]| {
            pose.fingers().iter().any(|tip| {
                let d: f64 = (0..3).map(|i| (f64::from(p[i]) - tip[i]).powi(2)).sum();
                (d.sqrt() - 0.018).abs() < 1e-3
            })
        };
        assert!(points(3).count() > 3 && points(3).all(near_tip));
        assert!(points(0).all(|p| p[0].is_nan()));
    }

    #[test]
    fn left_and_right_are_as_the_table_of_robots_says() {
        let mean_col = |pose: &Pose| {
            let labels = picture(pose).segmentation;
            let cols: Vec<usize> =
                labels.iter().enumerate().filter(|(_, l)| **l == 3).map(|(i, _)| i % 160).collect();
            cols.iter().sum::<usize>() as f64 / cols.len() as f64
        };
        assert!(mean_col(&Pose::home(6)) > mean_col(&Pose::home(0)) + 5.0, "+y is on the right");
    }

    #[test]
    fn only_what_was_asked_for_is_made() {
        let frame = draw(
            &Pose::home(0),
            &FrameRequest { width: 8, height: 6, ..FrameRequest::default() },
            7,
        );
        assert_eq!(
            (frame.color.0.len(), frame.depth.len(), frame.segmentation.len()),
            (8 * 6 * 3, 0, 0)
        );
        assert_eq!(frame.time_ns, 7);
    }
}
