//! The files about a recorded step, made when somebody asks for one by name.

use image_codec::Format;
use ruaflow_robots::RobotApi;

use crate::eyes::Seen;
use crate::looking::{LookError, camera_meta};
use crate::npz;

/// A file that is made from a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Artifact {
    Picture,
    /// Mirrored left to right, as a policy trained on the benchmark's own
    /// pictures expects it.
    PolicyPicture,
    Depth,
    World,
    Metadata,
}

/// What follows a camera's name in a file's, with the size of its picture.
const FILES: [(&str, Artifact, &str); 7] = [
    (".png", Artifact::Picture, "low"),
    ("_high.png", Artifact::Picture, "high"),
    ("_policy.png", Artifact::PolicyPicture, "low"),
    ("_depth.npz", Artifact::Depth, "low"),
    ("_world.npz", Artifact::World, "low"),
    ("_world_high.npz", Artifact::World, "high"),
    ("_metadata.json", Artifact::Metadata, "low"),
];

/// There is no file of that name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "there is no file {name:?}; files of a camera: {}; files of segment(): segment_NN.json, \
     segment_overlay_NN.png",
    files_of(.camera)
)]
pub(crate) struct NoArtifact {
    name: String,
    camera: &'static str,
}

fn files_of(camera: &str) -> String {
    FILES.map(|(suffix, ..)| format!("{camera}{suffix}")).join(", ")
}

impl Artifact {
    /// What a file's name stands for, its camera and the size of the picture.
    pub(crate) fn find(
        api: &RobotApi,
        name: &str,
    ) -> Result<(Self, &'static str, &'static str), NoArtifact> {
        let of = |camera: &'static str| {
            let suffix = name.strip_prefix(camera)?;
            let (_, artifact, size) = FILES.into_iter().find(|(known, ..)| *known == suffix)?;
            Some((artifact, camera, size))
        };
        api.cameras.iter().find_map(|camera| of(camera.name)).ok_or_else(|| NoArtifact {
            name: name.to_owned(),
            camera: api.cameras.first().map_or("CAMERA", |camera| camera.name),
        })
    }

    pub(crate) fn bytes(self, seen: &Seen) -> Result<Vec<u8>, LookError> {
        let frame = &seen.frame;
        let (width, height) = (frame.width, frame.height);
        let rows = height as usize;
        Ok(match self {
            Self::Picture => image_codec::encode_parts(width, height, &frame.color.0, Format::Png)?,
            Self::PolicyPicture => {
                let mirrored = frame.color.0.chunks_exact(width as usize * 3);
                let mirrored: Vec<u8> =
                    mirrored.flat_map(|row| row.chunks_exact(3).rev()).flatten().copied().collect();
                image_codec::encode_parts(width, height, &mirrored, Format::Png)?
            }
            Self::Depth => {
                seen.calibrated()?;
                npz::float32(&[rows, width as usize], frame.depth.iter().copied())
            }
            Self::World => npz::float32(&[rows, width as usize, 3], seen.world_map()?.into_iter()),
            Self::Metadata => camera_meta(seen).to_string().into_bytes(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_name() {
        let libero = ruaflow_robots::find("libero").unwrap();
        assert_eq!(
            Artifact::find(libero, "wrist_world_high.npz"),
            Ok((Artifact::World, "wrist", "high"))
        );
        assert_eq!(
            Artifact::find(libero, "agentview.png"),
            Ok((Artifact::Picture, "agentview", "low"))
        );
        let error = Artifact::find(libero, "../states.json").unwrap_err().to_string();
        assert!(
            error.starts_with(
                "there is no file \"../states.json\"; files of a camera: agentview.png, "
            ),
            "{error}"
        );
    }
}
