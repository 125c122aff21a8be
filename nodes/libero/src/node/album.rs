use std::collections::BTreeMap;

use ruaflow_schemas::FrameRequest;

use crate::render::Picture;

/// What the kept pictures may take together: eleven of 1024 x 1024, with depth and labels.
const ROOM: usize = 128 << 20;

/// The pictures of an episode that were asked for last, so that none is rendered
/// twice when recorder, agent and dashboard want the same.
#[derive(Default)]
pub struct Album {
    pictures: BTreeMap<Key, (u64, Picture)>,
    bytes: usize,
    /// Counts uses, to tell which picture was used last.
    uses: u64,
}

/// What a picture is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    control_step: u64,
    camera: String,
    size: [u32; 2],
    preview: bool,
}

impl Key {
    pub fn new(control_step: u64, request: &FrameRequest) -> Self {
        Key {
            control_step,
            camera: request.camera.clone(),
            size: [request.width, request.height],
            preview: request.preview,
        }
    }
}

impl Album {
    /// Takes a picture out.
    pub fn take(&mut self, key: &Key) -> Option<Picture> {
        let (_, picture) = self.pictures.remove(key)?;
        self.bytes -= size(&picture);
        Some(picture)
    }

    /// Puts a picture in; those that were not used for the longest time make room.
    pub fn keep(&mut self, key: Key, picture: Picture) {
        self.take(&key);
        self.uses += 1;
        self.bytes += size(&picture);
        self.pictures.insert(key, (self.uses, picture));
        while self.bytes > ROOM
            && let Some(oldest) =
                self.pictures.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone())
        {
            self.take(&oldest);
        }
    }
}

fn size(picture: &Picture) -> usize {
    picture.color.len() + 4 * (picture.depth.len() + picture.segmentation.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(control_step: u64) -> Key {
        let camera = "agentview".to_owned();
        Key { control_step, camera, size: [1024, 1024], preview: false }
    }

    fn picture(side: usize, value: u8) -> Picture {
        Picture {
            width: side as u32,
            height: side as u32,
            color: vec![value; 3 * side * side],
            depth: vec![1.0; side * side],
            depth_range: [0.1, 10.0],
            segmentation: Vec::new(),
            intrinsics: [0.0; 9],
            camera_to_world: [0.0; 16],
        }
    }

    #[test]
    fn a_picture_is_found_by_all_that_it_is_of() {
        let mut album = Album::default();
        album.keep(key(1), picture(4, 7));
        let preview = Key { preview: true, ..key(1) };
        let smaller = Key { size: [512, 512], ..key(1) };
        assert!([preview, smaller, key(2)].iter().all(|key| album.take(key).is_none()));
        assert_eq!(album.take(&key(1)).expect("the picture").color[0], 7);
        assert_eq!(album.bytes, 0);
    }

    #[test]
    fn what_was_not_used_for_long_makes_room() {
        let mut album = Album::default();
        for step in 0..18 {
            album.keep(key(step), picture(1024, step as u8));
        }
        // The first is used again.
        let first = album.take(&key(0)).expect("there is room for eighteen");
        album.keep(key(0), first);
        album.keep(key(18), picture(1024, 18));
        assert!(album.take(&key(1)).is_none() && album.take(&key(2)).is_some());
        assert_eq!(album.take(&key(0)).expect("used since").color[0], 0);
        assert!(album.bytes <= ROOM);
    }
}
