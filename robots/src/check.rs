//! Argument checks: the same rules and the same words for every caller.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::api::{Default, Method, Param, ParamKind, RobotApi, Type};
use crate::arg::Arg;

impl RobotApi {
    /// Checks the arguments of a call and fills in the defaults.
    ///
    /// `args` maps parameter names to values, in any order.
    ///
    /// # Errors
    /// [`ArgError`] for the first rule the arguments break. Nothing may move then.
    pub fn check<'a>(
        &self,
        method: &str,
        args: impl IntoIterator<Item = (&'a str, Arg)>,
    ) -> Result<Checked, ArgError> {
        let method = self.method(method).ok_or_else(|| ArgError::UnknownMethod {
            robot: self.name,
            method: method.to_owned(),
        })?;
        let given: Vec<(&str, Arg)> = args.into_iter().collect();
        for (index, (name, _)) in given.iter().enumerate() {
            if method.param(name).is_none() {
                return Err(ArgError::UnknownArgument {
                    method: method.name,
                    name: (*name).to_owned(),
                });
            }
            if given[..index].iter().any(|(earlier, _)| earlier == name) {
                return Err(ArgError::Repeated { method: method.name, name: (*name).to_owned() });
            }
        }

        let mut checked = Map::new();
        for param in method.params {
            let arg = given.iter().find(|(name, _)| *name == param.name).map(|(_, arg)| arg);
            let value = match (arg, param.default) {
                (None, Default::Required) => {
                    return Err(ArgError::Missing {
                        method: method.name,
                        name: param.name,
                        kind: param.kind,
                    });
                }
                (None, default) => self.default_value(default),
                (Some(Arg::None), Default::None) => Value::Null,
                (Some(arg), _) => self.check_value(method, param, arg)?,
            };
            checked.insert(param.name.to_owned(), value);
        }
        exactly_one(method, &checked)?;
        Ok(Checked { method, args: checked })
    }

    /// Checks one argument by itself, for those who know only some of a call's values.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_argument(&self, method: &str, name: &str, arg: &Arg) -> Result<(), ArgError> {
        let unknown = || ArgError::UnknownMethod { robot: self.name, method: method.to_owned() };
        let method = self.method(method).ok_or_else(unknown)?;
        let unknown = || ArgError::UnknownArgument { method: method.name, name: name.to_owned() };
        let param = method.param(name).ok_or_else(unknown)?;
        if *arg == Arg::None && param.default == Default::None {
            return Ok(());
        }
        self.check_value(method, param, arg).map(|_| ())
    }

    /// [`check`](Self::check) for arguments that came as a JSON object.
    ///
    /// # Errors
    /// As `check`; [`ArgError::NotAnObject`] when `args` is not an object.
    pub fn check_json(&self, method: &str, args: &Value) -> Result<Checked, ArgError> {
        let object =
            args.as_object().ok_or_else(|| ArgError::NotAnObject { method: method.to_owned() })?;
        self.check(method, object.iter().map(|(name, value)| (name.as_str(), Arg::from(value))))
    }

    /// Checks a motion's target against the robot's [`Limits`](crate::Limits) and,
    /// where the robot's card declares one, its workspace.
    ///
    /// `from` is where the gripper is, `to` where it should go: world frame, metres.
    /// `workspace` is the box `[x0 y0 z0 x1 y1 z1]` the target must lie in, metres.
    ///
    /// # Errors
    /// [`ArgError::TooFar`] or [`ArgError::OutsideWorkspace`].
    pub fn check_target(
        &self,
        method: &'static str,
        from: [f64; 3],
        to: [f64; 3],
        workspace: Option<[f64; 6]>,
    ) -> Result<(), ArgError> {
        if let Some(limit) = self.limits.max_planar_move_m {
            let distance = (to[0] - from[0]).hypot(to[1] - from[1]);
            // 0.1 + 0.2 must count as 0.3.
            if distance > limit + 1e-9 {
                return Err(ArgError::TooFar { method, distance, limit });
            }
        }
        if let Some(workspace) = workspace {
            for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
                let (min, max) = (workspace[axis], workspace[axis + 3]);
                if !(min..=max).contains(&to[axis]) {
                    return Err(ArgError::OutsideWorkspace {
                        method,
                        axis: name,
                        value: to[axis],
                        min,
                        max,
                    });
                }
            }
        }
        Ok(())
    }

    fn check_value(
        &self,
        method: &'static Method,
        param: &'static Param,
        arg: &Arg,
    ) -> Result<Value, ArgError> {
        let refuse = |wanted: String| ArgError::WrongType {
            method: method.name,
            name: param.name,
            wanted,
            got: describe(arg),
        };
        let checked = match param.ty {
            Type::Float => {
                finite(method, param, arg.number().ok_or_else(|| refuse(wanted(param)))?)?
            }
            Type::Int => Value::from(integer(arg).ok_or_else(|| refuse(wanted(param)))?),
            Type::Bool => match arg {
                Arg::Bool(value) => Value::from(*value),
                _ => return Err(refuse(wanted(param))),
            },
            Type::Str => match arg {
                Arg::Str(text) => Value::from(text.as_str()),
                _ => return Err(refuse(wanted(param))),
            },
            Type::Strs => match arg {
                Arg::List(items) => {
                    let texts = items.iter().map(|item| match item {
                        Arg::Str(text) => Ok(Value::from(text.as_str())),
                        _ => Err(refuse(wanted(param))),
                    });
                    Value::Array(texts.collect::<Result<_, _>>()?)
                }
                _ => return Err(refuse(wanted(param))),
            },
            Type::Vector(len) => match arg {
                Arg::List(items) if items.len() == len => {
                    let numbers = items.iter().map(|item| match item.number() {
                        Some(number) => finite(method, param, number),
                        None => Err(refuse(wanted(param))),
                    });
                    Value::Array(numbers.collect::<Result<_, _>>()?)
                }
                _ => return Err(refuse(wanted(param))),
            },
            Type::Gripper => self.check_gripper(method, param, arg)?,
            Type::Ints(len) => match arg {
                Arg::List(items) if items.len() == len => {
                    let numbers = items.iter().map(|item| integer(item).map(Value::from));
                    let numbers: Option<_> = numbers.collect();
                    Value::Array(numbers.ok_or_else(|| refuse(wanted(param)))?)
                }
                _ => return Err(refuse(wanted(param))),
            },
            Type::Camera => match arg {
                Arg::Str(name) if self.cameras.iter().any(|camera| camera.name == name) => {
                    Value::from(name.as_str())
                }
                _ => {
                    let names: Vec<String> =
                        self.cameras.iter().map(|camera| format!("{:?}", camera.name)).collect();
                    return Err(refuse(names.join(" or ")));
                }
            },
            Type::Size => self.check_size(method, param, arg)?,
            // Results only.
            Type::Dict | Type::Records(_) | Type::Mask => return Err(refuse(wanted(param))),
        };
        if param.positive && checked.as_f64().is_some_and(|number| number <= 0.0) {
            return Err(ArgError::NotPositive {
                method: method.name,
                name: param.name,
                value: checked.to_string(),
            });
        }
        Ok(checked)
    }

    fn check_gripper(
        &self,
        method: &'static Method,
        param: &'static Param,
        arg: &Arg,
    ) -> Result<Value, ArgError> {
        if *arg == Arg::Str(GripperCommand::HOLD.to_owned()) {
            return Ok(Value::from(GripperCommand::HOLD));
        }
        let (min, max) = self.limits.gripper;
        let number = arg.number().ok_or_else(|| ArgError::WrongType {
            method: method.name,
            name: param.name,
            wanted: wanted(param),
            got: describe(arg),
        })?;
        let value = finite(method, param, number)?;
        if !(min..=max).contains(&number) {
            return Err(ArgError::GripperRange {
                method: method.name,
                name: param.name,
                value: number,
                min,
                max,
            });
        }
        Ok(value)
    }
}

impl RobotApi {
    /// Width and height, in pixels, that a checked [`Type::Size`] stands for.
    #[must_use]
    pub fn pixels(&self, size: &Value) -> Option<(u32, u32)> {
        let side = |value: &Value| value.as_u64().and_then(|side| u32::try_from(side).ok());
        match size {
            Value::String(name) if name == HIGH => Some(self.resolutions.high),
            Value::String(name) if name == LOW => Some(self.resolutions.low),
            Value::Array(sides) => match sides.as_slice() {
                [width, height] => side(width).zip(side(height)),
                _ => None,
            },
            _ => side(size).map(|side| (side, side)),
        }
    }

    fn check_size(
        &self,
        method: &'static Method,
        param: &'static Param,
        arg: &Arg,
    ) -> Result<Value, ArgError> {
        let given = match arg {
            Arg::Str(name) if [HIGH, LOW].contains(&name.as_str()) => {
                return Ok(Value::from(name.as_str()));
            }
            Arg::List(sides) if sides.len() == 2 => sides.iter().map(integer).collect(),
            _ => integer(arg).map(|side| vec![side]),
        };
        let sides: Vec<i64> = given.ok_or_else(|| ArgError::WrongType {
            method: method.name,
            name: param.name,
            wanted: wanted(param),
            got: describe(arg),
        })?;
        let max = self.limits.max_picture_side;
        if let Some(&side) = sides.iter().find(|side| !(1..=i64::from(max)).contains(*side)) {
            return Err(ArgError::PictureSide { method: method.name, name: param.name, side, max });
        }
        Ok(match sides.as_slice() {
            [side] => Value::from(*side),
            _ => Value::from(sides),
        })
    }

    fn default_value(&self, default: Default) -> Value {
        match default {
            Default::Required | Default::None => Value::Null,
            Default::Float(value) => Value::from(value),
            Default::Int(value) => Value::from(value),
            Default::Str(value) => Value::from(value),
            Default::FirstCamera => Value::from(self.first_camera()),
        }
    }

    pub(crate) fn first_camera(&self) -> &'static str {
        self.cameras.first().map_or("", |camera| camera.name)
    }
}

const HIGH: &str = "high";
const LOW: &str = "low";

/// A call whose arguments passed every check.
#[derive(Debug, Clone)]
pub struct Checked {
    pub method: &'static Method,
    /// Every parameter of the method, defaults filled in; `None` is null.
    pub args: Map<String, Value>,
}

impl Checked {
    /// The arguments as a type of the caller's own.
    ///
    /// # Errors
    /// When `T` does not fit the method's table, a mistake in the program.
    pub fn parse<T: for<'de> Deserialize<'de>>(&self) -> Result<T, serde_json::Error> {
        T::deserialize(Value::Object(self.args.clone()))
    }
}

/// A gripper command that passed the checks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GripperCommand {
    /// A command in the robot's range.
    Value(f64),
    /// Repeat the last non-zero command.
    Hold,
}

impl GripperCommand {
    pub(crate) const HOLD: &'static str = "hold";
}

impl Serialize for GripperCommand {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => serializer.serialize_f64(*value),
            Self::Hold => serializer.serialize_str(Self::HOLD),
        }
    }
}

impl<'de> Deserialize<'de> for GripperCommand {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Raw {
            Number(f64),
            Text(String),
        }
        match Raw::deserialize(deserializer)? {
            Raw::Number(value) => Ok(Self::Value(value)),
            Raw::Text(text) if text == Self::HOLD => Ok(Self::Hold),
            Raw::Text(text) => Err(serde::de::Error::custom(format!(
                "a gripper command is a number or \"hold\", not {text:?}"
            ))),
        }
    }
}

/// Why a call was refused before anything moved. A cell sees it as `ValueError`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ArgError {
    #[error("{robot} has no method {method:?}")]
    UnknownMethod { robot: &'static str, method: String },
    #[error("{method}() takes its arguments as an object of names and values")]
    NotAnObject { method: String },
    #[error("{method}() got an unexpected keyword argument {name:?}")]
    UnknownArgument { method: &'static str, name: String },
    #[error("{method}() got multiple values for argument {name:?}")]
    Repeated { method: &'static str, name: String },
    #[error("{method}() missing 1 required {} argument: {name:?}", kind_word(*.kind))]
    Missing { method: &'static str, name: &'static str, kind: ParamKind },
    #[error("{method}(): {name} must be {wanted}, got {got}")]
    WrongType { method: &'static str, name: &'static str, wanted: String, got: String },
    #[error("{method}(): {name} must be finite, got {value}")]
    NotFinite { method: &'static str, name: &'static str, value: f64 },
    #[error("{method}(): {name} must be greater than 0, got {value}")]
    NotPositive { method: &'static str, name: &'static str, value: String },
    #[error("{method}(): {name} must be within [{min}, {max}] or \"hold\", got {value}")]
    GripperRange { method: &'static str, name: &'static str, value: f64, min: f64, max: f64 },
    #[error("{method}(): {name} may have 1 to {max} pixels a side, got {side}")]
    PictureSide { method: &'static str, name: &'static str, side: i64, max: u32 },
    #[error("{method}() needs exactly one of {}", .names.join(" and "))]
    ExactlyOneOf { method: &'static str, names: &'static [&'static str] },
    #[error(
        "{method}(): the target is {distance:.3} m away in x/y, more than \
         {limit} m (MAX_PLANAR_MOVE_M) in one call; go there in several moves"
    )]
    TooFar { method: &'static str, distance: f64, limit: f64 },
    #[error("{method}(): the target's {axis} = {value} m is outside the workspace [{min}, {max}]")]
    OutsideWorkspace { method: &'static str, axis: &'static str, value: f64, min: f64, max: f64 },
}

fn finite(method: &Method, param: &Param, number: f64) -> Result<Value, ArgError> {
    Number::from_f64(number).map(Value::Number).ok_or(ArgError::NotFinite {
        method: method.name,
        name: param.name,
        value: number,
    })
}

/// An int, or a float without a fraction: JSON callers write 80 as 80.0.
fn integer(arg: &Arg) -> Option<i64> {
    match arg {
        Arg::Int(value) => Some(*value),
        #[expect(clippy::cast_possible_truncation, reason = "bounded by the guard")]
        Arg::Float(value) if value.fract() == 0.0 && value.abs() < 1e15 => Some(*value as i64),
        _ => None,
    }
}

fn exactly_one(method: &'static Method, args: &Map<String, Value>) -> Result<(), ArgError> {
    let names = method.exactly_one_of;
    let given =
        names.iter().filter(|name| args.get(**name).is_some_and(|value| !value.is_null())).count();
    if names.is_empty() || given == 1 {
        return Ok(());
    }
    Err(ArgError::ExactlyOneOf { method: method.name, names })
}

fn wanted(param: &Param) -> String {
    let text = match param.ty {
        Type::Float => "a number".to_owned(),
        Type::Int => "an integer".to_owned(),
        Type::Bool => "True or False".to_owned(),
        Type::Str => "a text".to_owned(),
        Type::Strs => "a list of texts".to_owned(),
        Type::Vector(len) => format!("{len} numbers"),
        Type::Gripper => "a number or \"hold\"".to_owned(),
        Type::Ints(len) => format!("{len} integers"),
        Type::Camera => "the name of a camera".to_owned(),
        Type::Size => "\"high\", \"low\", a number of pixels or (width, height)".to_owned(),
        Type::Dict => "a dict".to_owned(),
        Type::Records(_) => "a list of results".to_owned(),
        Type::Mask => "a mask".to_owned(),
    };
    match param.default {
        Default::None => format!("{text} or None"),
        _ => text,
    }
}

fn describe(arg: &Arg) -> String {
    const SHOWN: usize = 40;
    match arg {
        Arg::None => "None".to_owned(),
        Arg::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
        Arg::Float(value) => format!("float {value}"),
        Arg::Int(value) => format!("int {value}"),
        Arg::Str(text) => {
            let short: String = text.chars().take(SHOWN).collect();
            format!("str {short:?}")
        }
        Arg::List(items) => match items.iter().find(|item| item.number().is_none()) {
            Some(item) => format!("a list with a {} in it", item.type_name()),
            None => format!("{} numbers", items.len()),
        },
        Arg::Other(name) => name.chars().take(SHOWN).collect(),
    }
}

fn kind_word(kind: ParamKind) -> &'static str {
    match kind {
        ParamKind::Keyword => "keyword-only",
        ParamKind::Positional | ParamKind::Any => "positional",
    }
}
