//! The segmenter that comes with RuaFlow: a small net that embeds every pixel of a picture, and
//! one that embeds a phrase. A pixel shows what a phrase names when their product is above a
//! threshold, so that a second question about a picture costs little.
//!
//! Made by `training/perception`; `models/perception/README.md` says what it knows.

mod instances;
mod text;

use std::path::{Path, PathBuf};

use image_codec::{Filter, Pixels, resize};
use ort::session::{Session, SessionInputValue};
use ort::value::{Tensor, TensorElementType};
use ruaflow_onnx::Side;

use crate::eyes::{Asked, Eyes, EyesError, Instance, Picture, Sight};

use self::instances::{Grid, Level};

/// Side of the picture that the net takes, pixels.
const SIDE: u32 = 512;
/// Numbers a pixel and a phrase have.
const DIMENSIONS: usize = 48;
/// Side of the map of pixels' vectors.
const GRID: usize = 256;
const CELLS: usize = GRID * GRID;
/// Side of the map of offsets.
const COARSE: usize = 128;
/// How alike a pixel must be to one that is pointed at, and what a difference weighs.
const ALIKE: f32 = 0.7;
const SHARPNESS: f32 = 20.0;

/// What a folder with the nets holds.
pub const FILES: [&str; 3] = [PICTURE_MODEL, PHRASE_MODEL, NAMES];

const PICTURE_MODEL: &str = "picture.onnx";
const PHRASE_MODEL: &str = "phrase.onnx";
/// What instances are called: a phrase a line, before the first tab.
const NAMES: &str = "names.tsv";

/// The builtin eyes.
pub struct Builtin {
    picture: Session,
    phrase: Session,
    names: Vec<(String, Phrase)>,
}

/// A picture, embedded.
pub struct Embedded {
    width: usize,
    height: usize,
    /// `DIMENSIONS x GRID x GRID`, of length 1 each.
    vectors: Vec<f32>,
    /// `4 x COARSE x COARSE`, rows and columns to the middle of the thing, then of the part, in
    /// steps of the grid.
    offsets: Vec<f32>,
}

/// A phrase, embedded.
#[derive(Clone)]
struct Phrase {
    vector: Vec<f32>,
    threshold: f32,
    /// Whether it names a part of a thing.
    part: bool,
}

impl Builtin {
    /// Loads the nets of a folder.
    ///
    /// # Errors
    /// [`EyesError::Onnx`] when a file is missing, broken or another model's;
    /// [`EyesError::Files`] when the list of names can't be read.
    pub fn open(dir: &Path) -> Result<Self, EyesError> {
        let picture = open(&dir.join(PICTURE_MODEL))?;
        let phrase = open(&dir.join(PHRASE_MODEL))?;
        let mut builtin = Self { picture, phrase, names: Vec::new() };
        let path = dir.join(NAMES);
        let names = std::fs::read_to_string(&path)
            .map_err(|error| EyesError::Files(format!("{path:?} can't be read: {error}")))?;
        for name in names.lines().filter_map(|line| line.split('\t').next()) {
            let phrase = builtin.embed(name)?;
            builtin.names.push((name.to_owned(), phrase));
        }
        Ok(builtin)
    }

    fn embed(&mut self, phrase: &str) -> Result<Phrase, EyesError> {
        let failed = |error: ort::Error| failed(PHRASE_MODEL, &error);
        let features = text::features(phrase).to_vec();
        let features = Tensor::from_array(([1, text::SLOTS], features)).map_err(failed)?;
        let inputs: Vec<(&str, SessionInputValue)> = vec![("features", features.into())];
        let outputs = self.phrase.run(inputs).map_err(failed)?;
        let numbers = |name: &str, wanted| numbers(&outputs, PHRASE_MODEL, name, wanted);
        Ok(Phrase {
            vector: numbers("vectors", DIMENSIONS)?,
            threshold: numbers("thresholds", 1)?[0],
            part: numbers("parts", 1)?[0] > 0.0,
        })
    }

    /// What most of the cells are called.
    fn name_of(&self, picture: &Embedded, cells: &[usize]) -> String {
        let mut mean = [0.0; DIMENSIONS];
        for (mean, plane) in mean.iter_mut().zip(picture.vectors.chunks_exact(CELLS)) {
            *mean = cells.iter().map(|&cell| plane[cell]).sum::<f32>() / cells.len().max(1) as f32;
        }
        let named = self.names.iter().map(|(name, phrase)| {
            let product: f32 = mean.iter().zip(&phrase.vector).map(|(x, y)| x * y).sum();
            (product + phrase.threshold, name)
        });
        let best = named.max_by(|left, right| left.0.total_cmp(&right.0));
        best.filter(|(likely, _)| *likely > 0.0).map_or_else(String::new, |(_, name)| name.clone())
    }
}

impl Eyes for Builtin {
    type Features = Embedded;

    const KNOWS_PARTS: bool = true;

    fn name(&self) -> String {
        "builtin".to_owned()
    }

    fn look(&mut self, sight: &Sight) -> Result<Embedded, EyesError> {
        let Picture { width, height, rgb } = &sight.picture;
        let pixels = Pixels { width: *width, height: *height, channels: 3, bytes: rgb };
        let image = resize(pixels, SIDE, SIDE, Filter::Bilinear)
            .map_err(|error| EyesError::Picture(error.to_string()))?;
        let failed = |error: ort::Error| failed(PICTURE_MODEL, &error);
        let side = SIDE as usize;
        let image = Tensor::from_array(([side, side, 3], image)).map_err(failed)?;
        let inputs: Vec<(&str, SessionInputValue)> = vec![("image", image.into())];
        let outputs = self.picture.run(inputs).map_err(failed)?;
        let numbers = |name: &str, wanted| numbers(&outputs, PICTURE_MODEL, name, wanted);
        Ok(Embedded {
            width: *width as usize,
            height: *height as usize,
            vectors: numbers("vectors", DIMENSIONS * CELLS)?,
            offsets: numbers("offsets", 4 * COARSE * COARSE)?,
        })
    }

    fn ask(&mut self, picture: &Embedded, asked: Asked<'_>) -> Result<Vec<Instance>, EyesError> {
        let (grid, pointed) = match asked {
            Asked::Phrase(phrase) => {
                let phrase = self.embed(phrase)?;
                let level = if phrase.part { Level::Part } else { Level::Thing };
                (picture.grid(&phrase.vector, phrase.threshold, level), None)
            }
            Asked::Point { row, col } => {
                let cell = picture.cell(row as usize, col as usize);
                let vector: Vec<f32> =
                    picture.vectors.chunks_exact(CELLS).map(|plane| plane[cell]).collect();
                let sharp: Vec<f32> = vector.iter().map(|x| SHARPNESS * x).collect();
                let grid = picture.grid(&sharp, -SHARPNESS * ALIKE, Level::Thing);
                (grid, Some(cell))
            }
        };
        let found = grid.instances().into_iter();
        let found = found.filter(|one| pointed.is_none_or(|cell| one.cells.contains(&cell)));
        Ok(found
            .map(|one| Instance {
                label: self.name_of(picture, &one.cells),
                score: one.score,
                mask: grid.mask(&one.cells, picture.width, picture.height),
            })
            .collect())
    }
}

impl Embedded {
    /// The cell of the grid that a pixel of the picture lies in.
    fn cell(&self, row: usize, col: usize) -> usize {
        let scaled = |at: usize, size: usize| (at * GRID / size.max(1)).min(GRID - 1);
        scaled(row, self.height) * GRID + scaled(col, self.width)
    }

    /// How likely each cell is, and where the middle of its thing or part lies.
    fn grid(&self, vector: &[f32], threshold: f32, level: Level) -> Grid {
        let mut logits = vec![threshold; CELLS];
        for (plane, weight) in self.vectors.chunks_exact(CELLS).zip(vector) {
            for (logit, value) in logits.iter_mut().zip(plane) {
                *logit += weight * value;
            }
        }
        let planes = &self.offsets[level.plane() * COARSE * COARSE..];
        let (rows, columns) = planes.split_at(COARSE * COARSE);
        Grid::new(GRID, logits, |row, col| {
            let (r, c) = (row * COARSE / GRID, col * COARSE / GRID);
            let at = r * COARSE + c;
            let step = (GRID / COARSE) as f32;
            [r as f32 * step + 1.0 + rows[at], c as f32 * step + 1.0 + columns[at]]
        })
    }
}

/// Opens a model and checks that it is one of ours.
fn open(path: &Path) -> Result<Session, EyesError> {
    use TensorElementType::{Float32, Int64, Uint8};

    let session = ruaflow_onnx::open(path, threads())?;
    let (input, outputs): (_, &[&str]) = match path.ends_with(PICTURE_MODEL) {
        true => (("image", Uint8), &["vectors", "offsets"]),
        false => (("features", Int64), &["vectors", "thresholds", "parts"]),
    };
    let path = PathBuf::from(path);
    ruaflow_onnx::tensor(&session, &path, Side::Input, input.0, &[input.1])?;
    for name in outputs {
        ruaflow_onnx::tensor(&session, &path, Side::Output, name, &[Float32])?;
    }
    Ok(session)
}

/// One core is left to the simulator, which often works at the same time.
fn threads() -> usize {
    std::thread::available_parallelism()
        .map_or(1, |cores| cores.get().saturating_sub(1))
        .clamp(1, 4)
}

fn numbers(
    outputs: &ort::session::SessionOutputs<'_>,
    model: &'static str,
    name: &str,
    wanted: usize,
) -> Result<Vec<f32>, EyesError> {
    let answer = |message: String| EyesError::Answer { model, message };
    let value = outputs.get(name).ok_or_else(|| answer(format!("there is no {name:?}")))?;
    let (_, values) =
        value.try_extract_tensor::<f32>().map_err(|error| answer(error.to_string()))?;
    match values.len() == wanted && values.iter().all(|value| value.is_finite()) {
        true => Ok(values.to_vec()),
        false => Err(answer(format!("{name:?} are not {wanted} finite numbers"))),
    }
}

fn failed(model: &'static str, error: &ort::Error) -> EyesError {
    EyesError::Model { model, message: error.to_string() }
}
