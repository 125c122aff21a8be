//! Pictures: by id, of the size asked for, with what is needed to measure in them.

use eyre::Result;
use ruaflow_schemas::{Camera, CameraFrame, Card, FrameRequest};

use super::bench::{Bench, PATIENCE};
use super::report::{Found, Report};

const SMALL: [u32; 2] = [64, 48];
const ABSURD: u32 = 100_000;
/// Of a focal length, relative.
const FOCAL_TOLERANCE: f64 = 0.02;
const ROTATION_TOLERANCE: f64 = 1e-6;

pub fn check_all(bench: &mut Bench, report: &mut Report, card: &Card) -> Result<()> {
    let Some(first) = card.cameras.first() else {
        return report.not_made("pictures", "the robot has no camera");
    };
    for camera in &card.cameras {
        let request = FrameRequest { depth: camera.depth, ..latest(&camera.name) };
        let found = answered(bench, request.clone())?
            .and_then(|frame| check_frame(&frame, camera, &request));
        report.found(&format!("camera {:?} gives a picture", camera.name), found)?;

        let request = FrameRequest { width: SMALL[0], height: SMALL[1], ..request };
        let found = answered(bench, request.clone())?
            .and_then(|frame| check_frame(&frame, camera, &request));
        report.found(&format!("camera {:?} gives a smaller one", camera.name), found)?;

        let check = format!("camera {:?} pictures a past step", camera.name);
        if camera.any_step {
            let request = FrameRequest { control_step: 0, ..request };
            let found = answered(bench, request)?.and_then(|frame| {
                match (frame.error.as_str(), frame.control_step) {
                    ("", 0) => Ok(String::new()),
                    ("", other) => Err(format!("asked for control step 0, got {other}")),
                    (error, _) => Err(format!("the robot says {error:?}")),
                }
            });
            report.found(&check, found)?;
        } else {
            report.not_made(&check, "any_step is false")?;
        }
    }
    let unknown = answered(bench, latest("no-such-camera"))?.and_then(|frame| refused(&frame));
    report.found("an unknown camera is answered with an error", unknown)?;
    let absurd = FrameRequest { width: ABSURD, height: ABSURD, ..latest(&first.name) };
    let absurd = answered(bench, absurd)?.and_then(|frame| refused(&frame));
    report.found("an absurd size is answered with an error", absurd)?;
    Ok(())
}

fn latest(camera: &str) -> FrameRequest {
    FrameRequest { camera: camera.to_owned(), control_step: -1, ..FrameRequest::default() }
}

fn answered(bench: &mut Bench, request: FrameRequest) -> Result<Result<Box<CameraFrame>, String>> {
    let frame = bench.picture(request)?;
    Ok(frame
        .ok_or_else(|| format!("no frame with the request's id within {} s", PATIENCE.as_secs())))
}

fn refused(frame: &CameraFrame) -> Found {
    match frame.error.as_str() {
        "" => Err(format!("a picture of {}x{} came", frame.width, frame.height)),
        error => Ok(error.to_owned()),
    }
}

fn check_frame(frame: &CameraFrame, camera: &Camera, request: &FrameRequest) -> Found {
    if !frame.error.is_empty() {
        return Err(format!("the robot says {:?}", frame.error));
    }
    if frame.camera != camera.name {
        return Err(format!("a frame of camera {:?} came", frame.camera));
    }
    let or = |asked: u32, default: u32| if asked == 0 { default } else { asked };
    let size = [or(request.width, camera.width), or(request.height, camera.height)];
    if [frame.width, frame.height] != size {
        return Err(format!(
            "{}x{} came, expected {}x{}",
            frame.width, frame.height, size[0], size[1]
        ));
    }
    let pixels = frame.width as usize * frame.height as usize;
    let color = &frame.color.0;
    if color.len() != 3 * pixels {
        return Err(format!("{} bytes of colour, expected {}", color.len(), 3 * pixels));
    }
    if color.chunks_exact(3).all(|pixel| pixel == &color[..3]) {
        return Err("every pixel has the same colour".to_owned());
    }
    let depth = if request.depth { check_depth(&frame.depth, pixels)? } else { String::new() };
    check_intrinsics(frame, camera)?;
    check_pose(&frame.camera_to_world)?;
    Ok(format!("{}x{}{depth}", frame.width, frame.height))
}

fn check_depth(depth: &[f32], pixels: usize) -> Found {
    if depth.len() != pixels {
        return Err(format!("{} values of depth, expected {pixels}", depth.len()));
    }
    let seen: Vec<f32> = depth.iter().copied().filter(|d| !d.is_nan()).collect();
    if let Some(bad) = seen.iter().find(|d| !(d.is_finite() && **d > 0.0)) {
        return Err(format!(
            "a depth of {bad} m, expected positive metres, or not a number where nothing is seen"
        ));
    }
    if seen.is_empty() {
        return Err("no pixel has a depth".to_owned());
    }
    let (near, far) =
        seen.iter().fold((f32::MAX, 0.0_f32), |(near, far), d| (near.min(*d), far.max(*d)));
    Ok(format!(", depth {near:.2} to {far:.2} m"))
}

fn check_intrinsics(frame: &CameraFrame, camera: &Camera) -> Result<(), String> {
    let [fx, skew, cx, zero, fy, cy, ..] = frame.intrinsics;
    let bottom = &frame.intrinsics[6..];
    if bottom != [0.0, 0.0, 1.0] || zero != 0.0 || !skew.is_finite() {
        return Err(format!("intrinsics {:?} are not [fx s cx, 0 fy cy, 0 0 1]", frame.intrinsics));
    }
    let expected = f64::from(frame.height) / 2.0 / (camera.fov_y / 2.0).tan();
    if !(fx.is_finite() && fx > 0.0 && ((fy - expected) / expected).abs() <= FOCAL_TOLERANCE) {
        return Err(format!(
            "focal lengths {fx:.1} and {fy:.1} px, the card's fov_y gives {expected:.1}"
        ));
    }
    let inside = |c: f64, size: u32| c > 0.0 && c < f64::from(size);
    if !inside(cx, frame.width) || !inside(cy, frame.height) {
        return Err(format!("the principal point ({cx:.1}, {cy:.1}) is outside the picture"));
    }
    Ok(())
}

fn check_pose(pose: &[f64; 16]) -> Result<(), String> {
    let row = |i: usize| -> [f64; 3] { [pose[4 * i], pose[4 * i + 1], pose[4 * i + 2]] };
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let [x, y, z] = [row(0), row(1), row(2)];
    let cross = [y[1] * z[2] - y[2] * z[1], y[2] * z[0] - y[0] * z[2], y[0] * z[1] - y[1] * z[0]];
    let errors = [
        dot(x, x) - 1.0,
        dot(y, y) - 1.0,
        dot(z, z) - 1.0,
        dot(x, y),
        dot(x, z),
        dot(y, z),
        dot(x, cross) - 1.0,
    ];
    let rotation = errors.iter().all(|e| e.abs() < ROTATION_TOLERANCE);
    if !rotation || pose[12..] != [0.0, 0.0, 0.0, 1.0] || pose.iter().any(|p| !p.is_finite()) {
        return Err(format!("camera_to_world {pose:?} is not a pose"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ruaflow_schemas::Bytes;

    use super::super::card::tests::good;
    use super::*;

    fn picture() -> (CameraFrame, Camera, FrameRequest) {
        let camera = good().cameras.remove(0);
        let focal = 24.0 / 0.5_f64.tan();
        let frame = CameraFrame {
            camera: camera.name.clone(),
            width: 64,
            height: 48,
            color: Bytes((0..64 * 48 * 3).map(|i| i as u8).collect()),
            depth: vec![1.0; 64 * 48],
            intrinsics: [focal, 0.0, 32.0, 0.0, focal, 24.0, 0.0, 0.0, 1.0],
            camera_to_world: [1., 0., 0., 0., 0., -1., 0., 0., 0., 0., -1., 2., 0., 0., 0., 1.],
            ..CameraFrame::default()
        };
        (frame, camera, FrameRequest { depth: true, ..FrameRequest::default() })
    }

    #[test]
    fn a_good_picture_passes() {
        let (frame, camera, request) = picture();
        assert_eq!(check_frame(&frame, &camera, &request).unwrap(), "64x48, depth 1.00 to 1.00 m");
    }

    #[test]
    fn what_is_wrong_is_named() {
        type Change = fn(&mut CameraFrame);
        let cases: [(&str, Change); 10] = [
            ("kaput", |f| f.error = "kaput".to_owned()),
            ("camera \"other\"", |f| f.camera = "other".to_owned()),
            ("expected 64x48", |f| f.width = 32),
            ("bytes of colour", |f| f.color.0.truncate(10)),
            ("same colour", |f| f.color.0.fill(7)),
            ("values of depth", |f| f.depth.truncate(10)),
            ("a depth of 0", |f| f.depth[5] = 0.0),
            ("no pixel", |f| f.depth.fill(f32::NAN)),
            ("focal", |f| f.intrinsics[4] *= 1.1),
            ("not a pose", |f| f.camera_to_world[0] = -1.0),
        ];
        for (words, change) in cases {
            let (mut frame, camera, request) = picture();
            change(&mut frame);
            let complaint = check_frame(&frame, &camera, &request).unwrap_err();
            assert!(complaint.contains(words), "{complaint:?} should name {words:?}");
        }
    }
}
