//! The pictures that an agent sees after its cell.

use std::fmt;
use std::rc::Rc;

use image_codec::{Format, Rgb};
use ruaflow_schemas::{Bytes, CameraFrame, Picture};

use crate::eyes::{Seen, View};

/// Pictures of one cell at most; each costs an agent about a thousand tokens.
const MAX_PICTURES: usize = 16;

/// Rows and columns of a part of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crop {
    row0: u32,
    col0: u32,
    row1: u32,
    col1: u32,
}

impl fmt::Display for Crop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}:{}, {}:{}]", self.row0, self.row1, self.col0, self.col1)
    }
}

/// A crop that leaves nothing.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("crop {given:?} leaves nothing of a picture of {height} rows and {width} columns")]
pub(crate) struct NoCrop {
    given: [i64; 4],
    height: u32,
    width: u32,
}

impl Crop {
    /// `[row0, col0, row1, col1]`, cut to the picture.
    pub(crate) fn new([row0, col0, row1, col1]: [i64; 4], view: &View) -> Result<Self, NoCrop> {
        let (height, width) = (view.height, view.width);
        let clip = |at: i64, side: u32| u32::try_from(at.max(0)).unwrap_or(side).min(side);
        let crop = Self {
            row0: clip(row0, height),
            col0: clip(col0, width),
            row1: clip(row1, height),
            col1: clip(col1, width),
        };
        if crop.row0 < crop.row1 && crop.col0 < crop.col1 {
            Ok(crop)
        } else {
            Err(NoCrop { given: [row0, col0, row1, col1], height, width })
        }
    }

    fn cut(self, frame: &CameraFrame) -> Rgb {
        let row_bytes = frame.width as usize * 3;
        let (from, to) = (self.col0 as usize * 3, self.col1 as usize * 3);
        let rows = (self.row0..self.row1).map(|row| row as usize * row_bytes);
        let pixels = rows
            .filter_map(|start| frame.color.0.get(start + from..start + to))
            .flatten()
            .copied()
            .collect();
        Rgb { width: self.col1 - self.col0, height: self.row1 - self.row0, pixels }
    }
}

/// What a cell asked to show, in order.
#[derive(Default)]
pub(crate) struct Shown {
    pictures: Vec<One>,
    errors: Vec<String>,
}

struct One {
    name: String,
    kind: Kind,
}

enum Kind {
    /// Made by the cell itself.
    Made(Rgb),
    Asked {
        view: View,
        crop: Option<Crop>,
        seen: Option<Rc<Seen>>,
    },
}

/// There are too many pictures already.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a cell shows {MAX_PICTURES} pictures at most")]
pub(crate) struct TooMany;

impl Shown {
    /// Queues a camera's picture, or a part of it; the same one twice is once.
    pub(crate) fn push_view(
        &mut self,
        name: &str,
        view: &View,
        crop: Option<Crop>,
    ) -> Result<(), TooMany> {
        let known = self.pictures.iter().any(|one| match &one.kind {
            Kind::Asked { view: of, crop: part, .. } => of == view && *part == crop,
            Kind::Made(_) => false,
        });
        if known {
            return Ok(());
        }
        self.push(name, Kind::Asked { view: view.clone(), crop, seen: None })
    }

    /// Queues a picture that the cell made.
    pub(crate) fn push_rgb(&mut self, name: &str, picture: Rgb) -> Result<(), TooMany> {
        self.push(name, Kind::Made(picture))
    }

    fn push(&mut self, name: &str, kind: Kind) -> Result<(), TooMany> {
        if self.pictures.len() >= MAX_PICTURES {
            return Err(TooMany);
        }
        self.pictures.push(One { name: name.to_owned(), kind });
        Ok(())
    }

    /// Takes note of a picture that can't be asked for.
    pub(crate) fn fail(&mut self, name: &str, why: &str) {
        self.errors.push(format!("{name}: {why}"));
    }

    /// Takes note of a picture that came, or of why it does not.
    pub(crate) fn saw(&mut self, view: &View, sight: &Result<Rc<Seen>, String>) {
        let errors = &mut self.errors;
        self.pictures.retain_mut(|one| match &mut one.kind {
            Kind::Asked { view: of, seen, .. } if of == view && seen.is_none() => match sight {
                Ok(picture) => {
                    *seen = Some(Rc::clone(picture));
                    true
                }
                Err(why) => {
                    errors.push(format!("{}: {why}", one.name));
                    false
                }
            },
            _ => true,
        });
    }

    /// Whether a picture is still on its way.
    pub(crate) fn waits(&self) -> bool {
        self.pictures.iter().any(|one| matches!(one.kind, Kind::Asked { seen: None, .. }))
    }

    /// The pictures as files, and why some are not there.
    pub(crate) fn finish(self) -> (Vec<Picture>, Vec<String>) {
        let mut errors = self.errors;
        let mut pictures = Vec::new();
        for One { name, kind } in self.pictures {
            let (camera, control_step, rgb) = match kind {
                Kind::Made(rgb) => (String::new(), 0, rgb),
                Kind::Asked { view, crop, seen: Some(seen) } => {
                    let frame = &seen.frame;
                    let rgb = match crop {
                        Some(crop) => crop.cut(frame),
                        None => Rgb {
                            width: frame.width,
                            height: frame.height,
                            pixels: frame.color.0.clone(),
                        },
                    };
                    (view.camera, frame.control_step, rgb)
                }
                Kind::Asked { .. } => continue,
            };
            match image_codec::encode(&rgb, Format::Png) {
                Ok(png) => pictures.push(Picture {
                    name,
                    camera,
                    control_step,
                    width: rgb.width,
                    height: rgb.height,
                    png: Bytes(png),
                }),
                Err(error) => errors.push(format!("{name}: {error}")),
            }
        }
        (pictures, errors)
    }
}
