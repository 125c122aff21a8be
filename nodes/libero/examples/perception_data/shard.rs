//! Pictures of one scene on disk: `NAME.json`, `NAME.rgb`, `NAME.label`, and perhaps `NAME.depth`.
//!
//! `rgb` is `pictures x 512 x 512 x 3` bytes; `label` is `pictures x 256 x 256 x 2` bytes, what
//! (an index into the JSON file's `names`) and which thing; `depth` is `pictures x 256 x 256`
//! 32-bit floats, metres.

use std::path::Path;

use eyre::{Result, ensure};
use serde_json::{Value, json};

use crate::labels::Sight;
use crate::scenery::{LABEL_SIDE, Picture, SIDE, Scenery};

#[derive(Default)]
pub struct Shard {
    /// What labels mean: `category|body|shape|region`.
    names: Vec<String>,
    pictures: Vec<Value>,
    color: Vec<u8>,
    label: Vec<u8>,
    depth: Vec<u8>,
    keeps_depth: bool,
}

impl Shard {
    /// Writes the depth too.
    pub fn with_depth(mut self) -> Self {
        self.keeps_depth = true;
        self
    }

    pub fn push(&mut self, picture: Picture, scenery: &Scenery, camera: usize) -> Result<()> {
        let mut known: Vec<(Sight, u8)> = Vec::new();
        for sight in &picture.sights {
            let label = match known.iter().rfind(|(seen, _)| seen == sight) {
                Some((_, label)) => *label,
                None => {
                    let label = self.name(*sight, scenery)?;
                    known.push((*sight, label));
                    label
                }
            };
            self.label.extend([label, sight.thing]);
        }
        self.color.extend(picture.color);
        self.depth.extend(picture.depth.iter().flat_map(|depth| depth.to_le_bytes()));
        self.pictures.push(describe(scenery, camera));
        Ok(())
    }

    fn name(&mut self, sight: Sight, scenery: &Scenery) -> Result<u8> {
        let labels = &scenery.labels;
        let category = match sight.thing {
            0 => "room",
            1 => "robot",
            thing => scenery.names.objects[usize::from(thing) - 2].category.name,
        };
        let part = &labels.parts[usize::from(sight.part)];
        let region = match sight.region {
            0 => "",
            region => &labels.regions[usize::from(region) - 1].name,
        };
        let name = format!("{category}|{part}|{region}");
        let index = self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        ensure!(index <= usize::from(u8::MAX), "more than 256 kinds of labels");
        Ok(index as u8)
    }

    pub fn write(&self, folder: &Path, name: &str) -> Result<()> {
        let about = json!({
            "side": SIDE,
            "label_side": LABEL_SIDE,
            "names": self.names,
            "pictures": self.pictures,
        });
        std::fs::write(folder.join(format!("{name}.rgb")), &self.color)?;
        std::fs::write(folder.join(format!("{name}.label")), &self.label)?;
        if self.keeps_depth {
            std::fs::write(folder.join(format!("{name}.depth")), &self.depth)?;
        }
        // Last: a shard whose JSON file is there is whole.
        std::fs::write(folder.join(format!("{name}.json")), about.to_string())?;
        Ok(())
    }
}

/// Camera and things of a picture.
fn describe(scenery: &Scenery, camera: usize) -> Value {
    let physics = &scenery.physics;
    let things: Vec<Value> = scenery
        .names
        .objects
        .iter()
        .map(|object| {
            json!({
                "name": object.name,
                "category": object.category.name,
                "position": physics.xpos()[object.body],
            })
        })
        .collect();
    json!({
        "camera": scenery.camera_name(camera),
        "fovy_degrees": physics.view().base().cam_fovy()[camera],
        "camera_position": physics.cam_xpos()[camera],
        "camera_axes": physics.cam_xmat()[camera],
        "things": things,
    })
}
