//! Segment Anything 3, as PyPI's `samexporter` 0.5 exports it: an image encoder, a
//! language encoder and a decoder. The weights are the user's own, under the SAM
//! License; nothing of them comes with RuaFlow.

mod external;
mod files;
mod heads;
mod import;
mod tokens;

use std::path::{Path, PathBuf};

use image_codec::{Filter, Pixels, resize};
use ort::session::{Session, SessionInputValue};
use ort::value::{DynValue, Tensor, TensorElementType};

use self::files::{DECODER, IMAGE_ENCODER, LANGUAGE_ENCODER, Signature};
use self::heads::Heads;
pub use self::import::{Imported, import};
use self::tokens::Words;
use crate::eyes::{Asked, Eyes, EyesError, Instance, Picture, Sight};

/// What the text is when a pixel is asked about.
const VISUAL: &str = "visual";
/// A pixel is asked about as a box of this share of the picture.
const POINT_BOX: f32 = 0.01;
/// Phrases whose features are kept.
const KEPT_PHRASES: usize = 64;

/// The three models, loaded.
pub struct Sam3 {
    image: Session,
    language: Session,
    decoder: Session,
    signature: Signature,
    words: Words,
    phrases: Vec<(String, Vec<Named>)>,
}

/// An output of one model, under the name by which the decoder takes it.
type Named = (&'static str, DynValue);

/// What the image encoder makes of a picture.
pub struct Features {
    vision: Vec<Named>,
    width: u32,
    height: u32,
}

/// The decoder's names for what the language encoder gives.
const OF_LANGUAGE: [(&str, &str); 3] = [
    ("text_attention_mask", "language_mask"),
    ("text_memory", "language_features"),
    ("text_embeds", "language_embeds"),
];
const OF_IMAGE: [&str; 6] = [
    "vision_pos_enc_0",
    "vision_pos_enc_1",
    "vision_pos_enc_2",
    "backbone_fpn_0",
    "backbone_fpn_1",
    "backbone_fpn_2",
];

impl Sam3 {
    /// Loads the three files of a folder, and checks that they are what they should be.
    ///
    /// # Errors
    /// [`EyesError::Files`] when one is missing, or a file of weights beside it;
    /// [`EyesError::Onnx`] when one is no model or has other inputs or outputs.
    pub fn open(dir: &Path) -> Result<Self, EyesError> {
        let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let load = |name: &str| -> Result<(PathBuf, Session), EyesError> {
            let path = dir.join(name);
            files::check_beside(&path)?;
            let session = ruaflow_onnx::open(&path, threads)?;
            Ok((path, session))
        };
        let (image, language, decoder) =
            (load(IMAGE_ENCODER)?, load(LANGUAGE_ENCODER)?, load(DECODER)?);
        let signature = Signature::check(&image, &language, &decoder)?;
        Ok(Sam3 {
            image: image.1,
            language: language.1,
            decoder: decoder.1,
            words: Words::new(signature.context),
            signature,
            phrases: Vec::new(),
        })
    }

    /// The language features of a phrase, kept for the next picture.
    fn phrase(&mut self, phrase: &str) -> Result<usize, EyesError> {
        if let Some(at) = self.phrases.iter().position(|(known, _)| known == phrase) {
            let found = self.phrases.remove(at);
            self.phrases.push(found);
            return Ok(self.phrases.len() - 1);
        }
        let failed = failed(LANGUAGE_ENCODER);
        let tokens = self.words.tokens(phrase)?;
        let shape = vec![1, tokens.len() as i64];
        let tokens = Tensor::from_array((shape, tokens)).map_err(&failed)?;
        let mut outputs = self.language.run(ort::inputs!["tokens" => tokens]).map_err(&failed)?;
        let mut features = Vec::new();
        for (output, input) in OF_LANGUAGE {
            features.push((input, taken(&mut outputs, output, LANGUAGE_ENCODER)?));
        }
        drop(outputs);
        if self.phrases.len() >= KEPT_PHRASES {
            self.phrases.remove(0);
        }
        self.phrases.push((phrase.to_owned(), features));
        Ok(self.phrases.len() - 1)
    }

    /// The marks of a prompt, padded to what the decoder takes.
    fn marks(&self, point: Option<[f32; 2]>) -> Result<Vec<Named>, EyesError> {
        let failed = failed(DECODER);
        let slots = self.signature.marks;
        let (mut boxes, mut masked) = (vec![0.0_f32; 4 * slots], vec![true; slots]);
        if let (Some([x, y]), Some(first)) = (point, masked.first_mut()) {
            boxes[..4].copy_from_slice(&[x, y, POINT_BOX, POINT_BOX]);
            *first = false;
        }
        let length = slots as i64;
        let boxes = Tensor::from_array((vec![length, 1, 4], boxes)).map_err(&failed)?;
        let labels = Tensor::from_array((vec![length, 1], vec![1_i64; slots])).map_err(&failed)?;
        let masked = Tensor::from_array((vec![1, length], masked)).map_err(&failed)?;
        Ok(vec![
            ("box_coords", boxes.into_dyn()),
            ("box_labels", labels.into_dyn()),
            ("box_masks", masked.into_dyn()),
        ])
    }
}

/// The files that a folder's models consist of, weights included.
///
/// # Errors
/// [`EyesError`] names the first that is missing or can't be read.
pub fn files(dir: &Path) -> Result<Vec<String>, EyesError> {
    let mut names = Vec::new();
    for model in files::MODELS {
        names.extend(files::check_beside(&dir.join(model))?);
        names.push(model.to_owned());
    }
    names.sort();
    names.dedup();
    Ok(names)
}

impl Eyes for Sam3 {
    type Features = Features;

    // A picture's features are about 200 MB.
    const KEPT: usize = 2;

    fn name(&self) -> String {
        "sam3".to_owned()
    }

    fn look(&mut self, sight: &Sight) -> Result<Features, EyesError> {
        let failed = failed(IMAGE_ENCODER);
        let picture = &sight.picture;
        let Signature { image, .. } = &self.signature;
        let planes = planes(picture, image.width, image.height)?;
        let [width, height] = [image.width, image.height].map(i64::from);
        let mut shape = vec![3, height, width];
        if image.batched {
            shape.insert(0, 1);
        }
        let input: SessionInputValue<'_> = match image.element {
            TensorElementType::Uint8 => {
                Tensor::from_array((shape, planes)).map_err(&failed)?.into()
            }
            // Such an export does not normalise by itself.
            _ => {
                let scaled: Vec<f32> =
                    planes.into_iter().map(|value| f32::from(value) / 127.5 - 1.0).collect();
                Tensor::from_array((shape, scaled)).map_err(&failed)?.into()
            }
        };
        let inputs = vec![(image.name.clone(), input)];
        let mut outputs = self.image.run(inputs).map_err(&failed)?;
        let mut vision = Vec::new();
        for name in OF_IMAGE.into_iter().filter(|name| self.signature.decoder_takes(name)) {
            vision.push((name, taken(&mut outputs, name, IMAGE_ENCODER)?));
        }
        Ok(Features { vision, width: picture.width, height: picture.height })
    }

    fn ask(&mut self, features: &Features, asked: Asked<'_>) -> Result<Vec<Instance>, EyesError> {
        let failed = failed(DECODER);
        let Features { vision, width, height } = features;
        let (text, point) = match asked {
            Asked::Phrase(phrase) => (phrase, None),
            Asked::Point { row, col } => {
                let share = |at: u32, side: u32| (at as f32 + 0.5) / side as f32;
                (VISUAL, Some([share(col, *width), share(row, *height)]))
            }
        };
        let phrase = self.phrase(text)?;
        let marks = self.marks(point)?;
        let mut inputs: Vec<(&str, SessionInputValue<'_>)> = Vec::new();
        for (name, side) in [("original_height", *height), ("original_width", *width)] {
            if self.signature.decoder_takes(name) {
                let shape: Vec<i64> = Vec::new();
                let side = Tensor::from_array((shape, vec![i64::from(side)])).map_err(&failed)?;
                inputs.push((name, side.into()));
            }
        }
        // What a simplified export no longer takes is not fed.
        let language = self.phrases.get(phrase).map(|(_, features)| features.as_slice());
        let given = vision.iter().chain(language.unwrap_or_default()).chain(&marks);
        for (name, value) in given.filter(|(name, _)| self.signature.decoder_takes(name)) {
            inputs.push((*name, value.into()));
        }
        let outputs = self.decoder.run(inputs).map_err(&failed)?;
        let heads = Heads::read(&outputs, self.signature.raw_heads)?;
        let mut instances = heads.instances([*width, *height])?;
        if let Asked::Point { row, col } = asked {
            // It answers with everything of that kind; the one under the pixel is meant.
            let at = row as usize * *width as usize + col as usize;
            instances.retain(|instance| instance.mask.get(at).is_some_and(|inside| *inside != 0));
        }
        let label = if point.is_some() { "" } else { text };
        Ok(instances.into_iter().map(|i| Instance { label: label.to_owned(), ..i }).collect())
    }
}

/// The picture in a model's size, stretched, one plane a colour.
fn planes(picture: &Picture, width: u32, height: u32) -> Result<Vec<u8>, EyesError> {
    let pixels =
        Pixels { width: picture.width, height: picture.height, channels: 3, bytes: &picture.rgb };
    let rgb = resize(pixels, width, height, Filter::Bilinear)
        .map_err(|error| EyesError::Picture(error.to_string()))?;
    let plane = |color: usize| rgb.iter().skip(color).step_by(3).copied();
    Ok((0..3).flat_map(plane).collect())
}

fn failed(model: &'static str) -> impl Fn(ort::Error) -> EyesError {
    move |error| EyesError::Model { model, message: error.to_string() }
}

fn taken(
    outputs: &mut ort::session::SessionOutputs<'_>,
    name: &str,
    model: &'static str,
) -> Result<DynValue, EyesError> {
    let missing = || EyesError::Answer { model, message: format!("it has no output {name:?}") };
    outputs.remove(name).ok_or_else(missing)
}
