//! What every backend is: it looks at a picture once, and is then asked about it.

use ruaflow_onnx::OnnxError;

/// An RGB picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    /// `height` x `width` x 3 bytes, top row first.
    pub rgb: Vec<u8>,
}

/// What a simulator knows of a picture and no camera sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// `height` x `width`; 0 is background, `i + 1` is entry `i` of `names`.
    pub of: Vec<u32>,
    /// Names of the instances, such as `akita_black_bowl_1`.
    pub names: Vec<String>,
}

/// What is looked at.
#[derive(Clone, Debug)]
pub struct Sight {
    pub picture: Picture,
    /// Only for eyes that [want](Eyes::WANTS_LABELS) them.
    pub labels: Option<Labels>,
}

/// What is asked about a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked<'a> {
    /// What a thing is called, in lower case and without articles: `black bowl`.
    Phrase(&'a str),
    /// A pixel on it, inside the picture.
    Point { row: u32, col: u32 },
}

/// A thing in a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// What the eyes take it for; empty when they have no name for it.
    pub label: String,
    /// How sure they are, 0 to 1.
    pub score: f32,
    /// `height` x `width` bytes of 0 or 1, top row first.
    pub mask: Vec<u8>,
}

/// Finds things in pictures.
pub trait Eyes {
    /// What [`look`](Self::look) makes of a picture, kept for further questions.
    type Features;

    /// Pictures whose features are kept.
    const KEPT: usize = 4;
    /// Whether they need what only a simulator knows. Such eyes are for developing
    /// and for comparison, never for a result.
    const WANTS_LABELS: bool = false;
    /// Whether they know phrases like "top drawer" by themselves. Others are asked
    /// for the whole thing, and its part is cut out by place.
    const KNOWS_PARTS: bool = false;

    /// What they are, for the record.
    fn name(&self) -> String;

    /// # Errors
    /// See [`EyesError`]; they may be used again after any of them.
    fn look(&mut self, sight: &Sight) -> Result<Self::Features, EyesError>;

    /// Every instance they see, also those they are not sure of, in any order.
    ///
    /// # Errors
    /// See [`EyesError`]; they may be used again after any of them.
    fn ask(
        &mut self,
        features: &Self::Features,
        asked: Asked<'_>,
    ) -> Result<Vec<Instance>, EyesError>;
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum EyesError {
    #[error(transparent)]
    Onnx(#[from] OnnxError),
    #[error("the model {model} failed: {message}")]
    Model { model: &'static str, message: String },
    #[error("the model {model}'s answer can't be read: {message}")]
    Answer { model: &'static str, message: String },
    #[error("the picture can't be brought to the model's size: {0}")]
    Picture(String),
    #[error("the prompt has {found} tokens, the model takes {most}: say it in fewer words")]
    Prompt { found: usize, most: usize },
    #[error("PERCEPTION=oracle needs instance labels, and this robot gives none")]
    NoLabels,
    #[error("{0}")]
    Files(String),
}
