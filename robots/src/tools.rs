//! The API as tools with JSON Schema, for agents that call tools instead of writing code.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::api::{Default, Method, Param, Primitives, Returns, RobotApi, Type};
use crate::check::GripperCommand;

/// One tool, in the words of the Model Context Protocol.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tool {
    pub name: &'static str,
    pub description: String,
    /// JSON Schema of the arguments, an object.
    #[serde(rename = "inputSchema")]
    pub input_schema: Value,
}

impl RobotApi {
    /// One tool a method, in method order. What answers with an array or a file
    /// is for code alone.
    #[must_use]
    pub fn tools(&self, primitives: Primitives) -> Vec<Tool> {
        let for_tools =
            |method: &&Method| !matches!(method.returns, Returns::Array(_) | Returns::Bytes);
        self.methods_of(primitives).filter(for_tools).map(|method| self.tool(method)).collect()
    }

    fn tool(&self, method: &'static Method) -> Tool {
        let properties: Map<String, Value> =
            method.params.iter().map(|param| (param.name.to_owned(), self.schema(param))).collect();
        let required: Vec<&str> = method
            .params
            .iter()
            .filter(|param| param.default == Default::Required)
            .map(|param| param.name)
            .collect();
        let mut description = method.doc.to_owned();
        if !method.exactly_one_of.is_empty() {
            description = format!(
                "{description} Give exactly one of {}.",
                method.exactly_one_of.join(" and ")
            );
        }
        Tool {
            name: method.name,
            description,
            input_schema: json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            }),
        }
    }

    fn schema(&self, param: &Param) -> Value {
        let mut schema = match param.ty {
            Type::Float => json!({"type": "number"}),
            Type::Int => json!({"type": "integer"}),
            Type::Bool => json!({"type": "boolean"}),
            Type::Str => json!({"type": "string"}),
            Type::Strs => json!({"type": "array", "items": {"type": "string"}}),
            Type::Vector(len) => json!({
                "type": "array", "items": {"type": "number"}, "minItems": len, "maxItems": len,
            }),
            Type::Gripper => json!({"anyOf": [
                {"type": "number", "minimum": self.limits.gripper.0, "maximum": self.limits.gripper.1},
                {"const": GripperCommand::HOLD},
            ]}),
            Type::Ints(len) => json!({
                "type": "array", "items": {"type": "integer"}, "minItems": len, "maxItems": len,
            }),
            Type::Camera => {
                let names: Vec<&str> = self.cameras.iter().map(|camera| camera.name).collect();
                json!({"enum": names})
            }
            Type::Size => json!({"anyOf": [
                {"enum": ["high", "low"]},
                {"type": "integer", "minimum": 1, "maximum": self.limits.max_picture_side},
                {
                    "type": "array", "items": {"type": "integer", "minimum": 1,
                    "maximum": self.limits.max_picture_side}, "minItems": 2, "maxItems": 2,
                },
            ]}),
            Type::Dict => json!({"type": "object"}),
            Type::Records(_) | Type::Mask => json!({"type": "array"}),
        };
        if param.positive {
            schema["exclusiveMinimum"] = json!(0);
        }
        schema["description"] = json!(if param.unit.is_empty() {
            param.doc.to_owned()
        } else {
            format!("{} ({})", param.doc, param.unit)
        });
        match param.default {
            Default::Float(value) => schema["default"] = json!(value),
            Default::Int(value) => schema["default"] = json!(value),
            Default::Str(value) => schema["default"] = json!(value),
            Default::FirstCamera => schema["default"] = json!(self.first_camera()),
            Default::Required | Default::None => {}
        }
        schema
    }
}
