use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One robot's API: the table everything else is made from.
#[derive(Debug)]
pub struct RobotApi {
    /// Name in settings and frames, e.g. `libero`.
    pub name: &'static str,
    /// What the robot is and which frame and units it uses; opens the reference.
    pub doc: &'static str,
    pub constants: &'static [Constant],
    pub attributes: &'static [Attribute],
    pub methods: &'static [Method],
    /// The first is the one that methods take by default.
    pub cameras: &'static [Camera],
    pub resolutions: Resolutions,
    pub limits: Limits,
    /// What a person who has worked with this robot would tell an agent, in
    /// Markdown. Sections whose heading ends in "(VLA)" are about its skills.
    pub(crate) knowledge: &'static str,
}

impl RobotApi {
    /// The method called `name`, if the robot has it.
    #[must_use]
    pub fn method(&self, name: &str) -> Option<&'static Method> {
        self.methods.iter().find(|method| method.name == name)
    }

    /// The methods of a primitive set, in the table's order.
    pub fn methods_of(&self, primitives: Primitives) -> impl Iterator<Item = &'static Method> {
        self.methods.iter().filter(move |method| method.is_in(primitives))
    }

    /// The result records of a primitive set's methods, each once, in method order;
    /// one that lies inside another comes before it.
    #[must_use]
    pub fn records_of(&self, primitives: Primitives) -> Vec<&'static Record> {
        let mut records: Vec<&'static Record> = Vec::new();
        for record in self.methods_of(primitives).filter_map(Method::record) {
            for record in record.inner().map(|(_, inner)| inner).chain([record]) {
                if !records.contains(&record) {
                    records.push(record);
                }
            }
        }
        records
    }
}

/// Which of a robot's methods an agent has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Primitives {
    #[default]
    Full,
    /// Without the skills that a vision-language-action policy runs.
    NoVla,
}

impl Primitives {
    pub const ALL: [Self; 2] = [Self::Full, Self::NoVla];

    /// The word for it in settings and on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::NoVla => "no-vla",
        }
    }
}

impl FromStr for Primitives {
    type Err = UnknownPrimitives;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|set| set.word() == text);
        known.ok_or_else(|| UnknownPrimitives(text.to_owned()))
    }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("there is no primitive set {0:?}; there are full and no-vla")]
pub struct UnknownPrimitives(pub String);

/// A number a program may use by name, `robo.OPEN`.
#[derive(Debug)]
pub struct Constant {
    pub name: &'static str,
    pub value: f64,
    pub unit: &'static str,
    pub doc: &'static str,
}

/// A read-only property of `robo`.
#[derive(Debug)]
pub struct Attribute {
    pub name: &'static str,
    pub ty: Type,
    pub doc: &'static str,
}

/// One call an agent can make.
#[derive(Debug)]
pub struct Method {
    pub name: &'static str,
    pub doc: &'static str,
    pub params: &'static [Param],
    /// Exactly one of these parameters must be given; empty when there is no such rule.
    pub exactly_one_of: &'static [&'static str],
    pub kind: Kind,
    pub returns: Returns,
    pub errors: &'static [ErrorDoc],
}

/// What a method is, which says who answers it and when it is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Reads what was measured; answered beside the cell, at any time.
    Read,
    /// Moves the robot.
    Motion,
    /// Moves the robot by a vision-language-action policy.
    Skill,
}

/// What a method answers with.
#[derive(Debug, Clone, Copy)]
pub enum Returns {
    Record(&'static Record),
    /// A numpy array; the text says which.
    Array(&'static str),
    Bytes,
    /// A dict; the text says what is in it.
    Dict(&'static str),
    Nothing,
}

impl Method {
    /// Whether the call may change the scene. Such a call makes a new recorded
    /// step, needs the controller's lease and is refused once the episode ended.
    #[must_use]
    pub fn stateful(&self) -> bool {
        self.kind != Kind::Read
    }

    #[must_use]
    pub fn is_in(&self, primitives: Primitives) -> bool {
        primitives == Primitives::Full || self.kind != Kind::Skill
    }

    /// What a call says when the method is not in the run's primitive set.
    #[must_use]
    pub fn hidden(&self) -> String {
        format!("{} is not available in this run (no-VLA primitive set)", self.name)
    }

    /// The record it answers with, if it is one.
    #[must_use]
    pub fn record(&self) -> Option<&'static Record> {
        match self.returns {
            Returns::Record(record) => Some(record),
            _ => None,
        }
    }

    #[must_use]
    pub fn param(&self, name: &str) -> Option<&'static Param> {
        self.params.iter().find(|param| param.name == name)
    }
}

#[derive(Debug)]
pub struct Param {
    pub name: &'static str,
    pub kind: ParamKind,
    pub ty: Type,
    pub default: Default,
    /// SI unit, or "" for a plain number or text.
    pub unit: &'static str,
    pub doc: &'static str,
    /// The number must be greater than zero.
    pub positive: bool,
    /// Its name says all: the reference that agents read leaves its line out.
    pub plain: bool,
}

impl Param {
    /// A parameter given by position or by name.
    pub(crate) const fn any(
        name: &'static str,
        ty: Type,
        default: Default,
        unit: &'static str,
        doc: &'static str,
    ) -> Self {
        let kind = ParamKind::Any;
        Self { name, kind, ty, default, unit, doc, positive: false, plain: false }
    }

    /// A parameter given by name only.
    pub(crate) const fn keyword(
        name: &'static str,
        ty: Type,
        default: Default,
        unit: &'static str,
        doc: &'static str,
    ) -> Self {
        Self { kind: ParamKind::Keyword, ..Self::any(name, ty, default, unit, doc) }
    }

    pub(crate) const fn positive(self) -> Self {
        Self { positive: true, ..self }
    }

    pub(crate) const fn plain(self) -> Self {
        Self { plain: true, ..self }
    }
}

/// How Python passes a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ParamKind {
    Positional,
    Any,
    Keyword,
}

/// What a parameter takes or a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Float,
    Int,
    Bool,
    Str,
    /// That many finite numbers.
    Vector(usize),
    /// Any number of texts.
    Strs,
    /// A gripper command: a number within [`Limits::gripper`], or "hold".
    Gripper,
    /// That many integers.
    Ints(usize),
    /// The name of one of the robot's cameras.
    Camera,
    /// The size of a picture: "high" or "low" of [`Resolutions`], one number for
    /// a square, or width and height.
    Size,
    /// Values by name.
    Dict,
    /// Any number of records.
    Records(&'static Record),
    /// A bool array (height, width) over a picture's pixels, for code alone.
    Mask,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Default {
    Required,
    /// May be left out or be `None`.
    None,
    Float(f64),
    Int(i64),
    Str(&'static str),
    /// The robot's first camera.
    FirstCamera,
}

/// What a motion or a measurement answers with: plain measured values under fixed names.
#[derive(Debug)]
pub struct Record {
    pub name: &'static str,
    pub doc: &'static str,
    pub fields: &'static [Field],
}

impl Record {
    /// The fields that hold records, with the kind of these.
    pub(crate) fn inner(&self) -> impl Iterator<Item = (&'static str, &'static Record)> {
        self.fields.iter().filter_map(|field| match field.ty {
            Type::Records(record) => Some((field.name, record)),
            _ => None,
        })
    }
}

/// A record is known by its name, which is the Python class's.
impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Record {}

#[derive(Debug)]
pub struct Field {
    pub name: &'static str,
    pub ty: Type,
    /// The value may be `None`.
    pub optional: bool,
    pub unit: &'static str,
    pub doc: &'static str,
    pub source: FieldSource,
    /// Its name says all: the reference that agents read leaves its line out.
    pub plain: bool,
}

impl Field {
    pub(crate) const fn new(
        name: &'static str,
        ty: Type,
        unit: &'static str,
        doc: &'static str,
    ) -> Self {
        let source = FieldSource::Measured;
        Self { name, ty, optional: false, unit, doc, source, plain: false }
    }

    pub(crate) const fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    pub(crate) const fn plain(self) -> Self {
        Self { plain: true, ..self }
    }

    pub(crate) const fn derived(self, from: fn(&Map<String, Value>) -> Option<f64>) -> Self {
        Self { source: FieldSource::Derived(from), ..self }
    }
}

/// Where a field's value comes from.
#[derive(Debug, Clone, Copy)]
pub enum FieldSource {
    /// The node that answers the call supplies it.
    Measured,
    /// Computed from the measured fields by [`Record::complete`].
    Derived(fn(&Map<String, Value>) -> Option<f64>),
}

/// When a method raises, for the reference.
#[derive(Debug)]
pub struct ErrorDoc {
    /// Name of the Python exception.
    pub exception: &'static str,
    pub when: &'static str,
}

/// A camera the robot's scene has.
#[derive(Debug)]
pub struct Camera {
    pub name: &'static str,
    pub mount: Mount,
    pub doc: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mount {
    /// Stands still in the world.
    Fixed,
    /// Moves with the arm's wrist.
    Wrist,
}

/// What the controller refuses before anything moves.
#[derive(Debug)]
pub struct Limits {
    /// Lowest and highest gripper command.
    pub gripper: (f64, f64),
    /// Longest x/y travel of one motion call in metres; vertical travel is free.
    pub max_planar_move_m: Option<f64>,
    /// Longest side of a picture, pixels.
    pub max_picture_side: u32,
}

/// Width and height, in pixels, of the picture sizes that have a name.
#[derive(Debug)]
pub struct Resolutions {
    pub high: (u32, u32),
    pub low: (u32, u32),
}
