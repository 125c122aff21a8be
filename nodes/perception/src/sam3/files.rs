//! The three files, and what each must take and give.

use std::path::{Path, PathBuf};

use ort::session::Session;
use ort::value::TensorElementType::{self, Bool, Float32, Int64, Uint8};
use ruaflow_onnx::{OnnxError, Side, tensor};

use super::{OF_IMAGE, OF_LANGUAGE, external};
use crate::eyes::EyesError;

pub(super) const IMAGE_ENCODER: &str = "sam3_image_encoder.onnx";
pub(super) const LANGUAGE_ENCODER: &str = "sam3_language_encoder.onnx";
pub(super) const DECODER: &str = "sam3_decoder.onnx";
pub(super) const MODELS: [&str; 3] = [IMAGE_ENCODER, LANGUAGE_ENCODER, DECODER];

/// What an export that names no size takes, pixels a side.
const SIDE: u32 = 1008;
/// Tokens of an export that names no length.
const CONTEXT: usize = 32;
/// Marks of an export that names no capacity.
const MARKS: usize = 1;
/// No export takes more; who says so is not to be believed.
const MOST: i64 = 4096;

/// What the models take, as far as exports differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    pub image: ImageInput,
    /// Tokens of a prompt.
    pub context: usize,
    /// Boxes and points of a prompt.
    pub marks: usize,
    /// Whether the decoder gives logits; older ones give finished masks.
    pub raw_heads: bool,
    decoder_inputs: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ImageInput {
    pub name: String,
    /// `Uint8`, or `Float32` for an export that does not normalise.
    pub element: TensorElementType,
    /// Whether it has a batch axis.
    pub batched: bool,
    pub width: u32,
    pub height: u32,
}

type Loaded = (PathBuf, Session);

impl Signature {
    /// # Errors
    /// [`EyesError::Onnx`] names the first input or output that is missing or of
    /// another type, [`EyesError::Files`] a shape that is none.
    pub fn check(
        (image_path, image): &Loaded,
        (language_path, language): &Loaded,
        (decoder_path, decoder): &Loaded,
    ) -> Result<Self, EyesError> {
        let image_input = ImageInput::check(image_path, image)?;
        for name in OF_IMAGE {
            tensor(image, image_path, Side::Output, name, &[Float32])?;
        }
        let tokens = tensor(language, language_path, Side::Input, "tokens", &[Int64])?;
        for (name, _) in OF_LANGUAGE {
            let element = if name == "text_attention_mask" { Bool } else { Float32 };
            tensor(language, language_path, Side::Output, name, &[element])?;
        }
        let takes: Vec<String> =
            decoder.inputs().iter().map(|input| input.name().to_owned()).collect();
        let (path, side) = (decoder_path.as_path(), Side::Input);
        let marks = tensor(decoder, path, side, "box_coords", &[Float32])?;
        for (name, element) in [
            ("box_labels", Int64),
            ("box_masks", Bool),
            ("language_features", Float32),
            ("language_mask", Bool),
            ("backbone_fpn_2", Float32),
        ] {
            tensor(decoder, path, side, name, &[element])?;
        }
        let known = |name: &str| {
            OF_IMAGE.contains(&name)
                || OF_LANGUAGE.iter().any(|(_, input)| *input == name)
                || ["box_coords", "box_labels", "box_masks"].contains(&name)
                || ["original_height", "original_width"].contains(&name)
        };
        if let Some(name) = takes.iter().find(|name| !known(name)) {
            return Err(EyesError::Files(format!(
                "{decoder_path:?} takes {name:?}, which SAM3's decoder does not; export it with \
                 samexporter 0.5"
            )));
        }
        let raw_heads = decoder.outputs().iter().any(|output| output.name() == "pred_logits");
        let outputs: &[(&str, &[TensorElementType])] = match raw_heads {
            true => &[
                ("pred_logits", &[Float32]),
                ("pred_masks", &[Float32]),
                ("presence_logit_dec", &[Float32]),
            ],
            false => &[("scores", &[Float32]), ("masks", &[Bool])],
        };
        for (name, elements) in outputs {
            tensor(decoder, path, Side::Output, name, elements)?;
        }
        Ok(Signature {
            image: image_input,
            context: length(language_path, "tokens", tokens.last(), CONTEXT)?,
            marks: length(decoder_path, "box_coords", marks.first(), MARKS)?,
            raw_heads,
            decoder_inputs: takes,
        })
    }

    /// Whether the decoder has an input of that name; simplifying takes some away.
    pub fn decoder_takes(&self, name: &str) -> bool {
        self.decoder_inputs.iter().any(|input| input == name)
    }
}

impl ImageInput {
    fn check(path: &Path, session: &Session) -> Result<Self, EyesError> {
        let name = match session.inputs() {
            [input] => input.name().to_owned(),
            inputs => {
                return Err(EyesError::Files(format!(
                    "{path:?} takes {} inputs, SAM3's image encoder one",
                    inputs.len()
                )));
            }
        };
        let shape = tensor(session, path, Side::Input, &name, &[Uint8, Float32])?;
        let is_byte = tensor(session, path, Side::Input, &name, &[Uint8]).is_ok();
        let (batched, sides) = match shape[..] {
            [3, height, width] => (false, [width, height]),
            [1 | -1, 3, height, width] => (true, [width, height]),
            _ => {
                return Err(EyesError::Files(format!(
                    "{path:?} takes a picture of shape {shape:?}, expected [3, {SIDE}, {SIDE}]"
                )));
            }
        };
        let side = |length_: i64| length(path, &name, Some(&length_), SIDE as usize);
        let [width, height] = [side(sides[0])?, side(sides[1])?];
        let element = if is_byte { Uint8 } else { Float32 };
        Ok(Self { name, element, batched, width: width as u32, height: height as u32 })
    }
}

/// The length of an axis; a free one is what the exporter's own client takes.
fn length(model: &Path, name: &str, axis: Option<&i64>, free: usize) -> Result<usize, EyesError> {
    match axis.copied() {
        Some(length @ 1..=MOST) => Ok(length as usize),
        Some(-1) => Ok(free),
        other => Err(EyesError::Files(format!(
            "{model:?} takes {name:?} of length {other:?}, which is none"
        ))),
    }
}

/// That a model is there, and the files of weights that it names beside it.
///
/// # Errors
/// [`OnnxError::Missing`] for the model, [`EyesError::Files`] for its weights.
pub(super) fn check_beside(model: &Path) -> Result<Vec<String>, EyesError> {
    if !model.is_file() {
        return Err(OnnxError::Missing(model.to_owned()).into());
    }
    let weights = external::files_of(model).map_err(|error| {
        EyesError::Files(format!("{model:?} is no ONNX model that can be read: {error}"))
    })?;
    let dir = model.parent().unwrap_or(Path::new(""));
    for weight in &weights {
        if Path::new(weight).components().count() != 1 || weight == ".." {
            return Err(EyesError::Files(format!(
                "{model:?} keeps weights in {weight:?}, which is not a file beside it"
            )));
        }
        if !dir.join(weight).is_file() {
            return Err(EyesError::Files(format!(
                "{model:?} keeps its weights in {weight:?}, which is missing beside it"
            )));
        }
    }
    Ok(weights)
}
