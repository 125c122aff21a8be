use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use image_codec::{Filter, Pixels, Rgb};
use ruaflow_schemas::{Bytes, Camera, CameraFrame, FrameRequest};

/// The pictures that were recorded of an episode.
#[derive(Default)]
pub struct Album {
    /// Files by camera and control step.
    files: BTreeMap<String, BTreeMap<u64, PathBuf>>,
}

impl Album {
    /// The pictures in a folder; what is none is passed over.
    pub fn open(folder: &Path) -> Self {
        let mut album = Album::default();
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if let Some((step, camera)) = name.strip_suffix(".png").and_then(|n| n.split_once('-'))
                && let Ok(step) = step.parse()
            {
                album.files.entry(camera.to_owned()).or_default().insert(step, path.clone());
            }
        }
        album
    }

    pub fn has(&self, camera: &str) -> bool {
        self.files.contains_key(camera)
    }

    /// The recorded picture that is nearest to a control step, in the size that is asked
    /// for. Where the camera stood was not recorded: its place is not a number.
    pub fn picture(
        &self,
        step: u64,
        camera: &Camera,
        request: &FrameRequest,
    ) -> Result<CameraFrame, String> {
        if request.segmentation {
            return Err("instance labels were not recorded".to_owned());
        }
        let files = self.files.get(&camera.name);
        let nearest = files
            .and_then(|files| files.iter().min_by_key(|(recorded, _)| recorded.abs_diff(step)));
        let (&control_step, path) =
            nearest.ok_or_else(|| "no picture of this camera was recorded".to_owned())?;
        let (width, height) = (request.width, request.height);
        let color = read(path, width, height)
            .map_err(|reason| format!("the recorded picture {path:?}: {reason}"))?;
        Ok(CameraFrame {
            control_step,
            width,
            height,
            color: Bytes(color),
            intrinsics: intrinsics(camera.fov_y, width, height),
            camera_to_world: [f64::NAN; 16],
            ..CameraFrame::default()
        })
    }
}

fn read(path: &Path, width: u32, height: u32) -> Result<Vec<u8>, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let Rgb { width: w, height: h, pixels } =
        image_codec::decode(&bytes).map_err(|error| error.to_string())?;
    let picture = Pixels { width: w, height: h, channels: 3, bytes: &pixels };
    image_codec::resize(picture, width, height, Filter::Bilinear).map_err(|e| e.to_string())
}

/// Of a camera with square pixels that looks through the middle of its picture.
fn intrinsics(fov_y: f64, width: u32, height: u32) -> [f64; 9] {
    let focal = 0.5 * f64::from(height) / (0.5 * fov_y).tan();
    let (cx, cy) = (0.5 * f64::from(width), 0.5 * f64::from(height));
    [focal, 0.0, cx, 0.0, focal, cy, 0.0, 0.0, 1.0]
}

#[cfg(test)]
mod tests {
    use image_codec::{Format, encode};

    use super::*;

    fn camera() -> Camera {
        Camera { name: "front".into(), fov_y: 0.8, ..Camera::default() }
    }

    fn request(width: u32, height: u32) -> FrameRequest {
        FrameRequest { width, height, ..FrameRequest::default() }
    }

    fn album() -> (tempfile::TempDir, Album) {
        let tmp = tempfile::tempdir().unwrap();
        for (step, gray) in [(0, 10), (20, 200)] {
            let pixels = vec![gray; 4 * 2 * 3];
            let png = encode(&Rgb { width: 4, height: 2, pixels }, Format::Png).unwrap();
            std::fs::write(tmp.path().join(format!("{step:05}-front.png")), png).unwrap();
        }
        std::fs::write(tmp.path().join("notes.txt"), "x").unwrap();
        let album = Album::open(tmp.path());
        (tmp, album)
    }

    #[test]
    fn the_nearest_picture_is_shown_in_the_size_asked_for() {
        let (_tmp, album) = album();
        assert!(album.has("front") && !album.has("wrist"));
        let shown =
            |step, width, height| album.picture(step, &camera(), &request(width, height)).unwrap();
        assert_eq!((shown(9, 4, 2).control_step, shown(11, 4, 2).control_step), (0, 20));
        let frame = shown(99, 8, 6);
        assert_eq!((frame.width, frame.height, frame.color.0.len()), (8, 6, 8 * 6 * 3));
        assert!(frame.color.0.iter().all(|&value| value == 200));
        assert!(frame.camera_to_world[0].is_nan() && frame.intrinsics[2] == 4.0);
    }

    #[test]
    fn what_was_not_recorded_is_said() {
        let (tmp, album) = album();
        let refused = |camera: &Camera, request| album.picture(0, camera, &request).unwrap_err();
        let wrist = Camera { name: "wrist".into(), ..camera() };
        assert!(refused(&wrist, request(4, 2)).contains("no picture of this camera"));
        let labels = FrameRequest { segmentation: true, ..request(4, 2) };
        assert!(refused(&camera(), labels).contains("labels were not recorded"));
        std::fs::write(tmp.path().join("00000-front.png"), "no picture").unwrap();
        assert!(refused(&camera(), request(4, 2)).contains("00000-front.png"));
    }
}
