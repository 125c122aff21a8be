//! `rua api`: what an agent may do with a robot, as the agent reads it.

use std::process::ExitCode;

use eyre::Result;
use ruaflow_robots::{Default, Field, Method, Param, Returns, RobotApi};
use serde_json::{Value, json};

use crate::args::{Api, ApiFormat};
use crate::failure::usage;
use crate::print;

pub fn run(args: &Api) -> Result<ExitCode> {
    let api = ruaflow_robots::find(&args.robot).map_err(|error| usage(error.to_string()))?;
    let primitives = args.primitives;
    match args.format {
        ApiFormat::Text => print::line(api.manual(primitives).trim_end()),
        ApiFormat::Tools => print::json(&api.tools(primitives))?,
        ApiFormat::Json => {
            let methods: Vec<Value> =
                api.methods_of(primitives).map(|method| method_json(api, method)).collect();
            print::json(&json!({
                "robot": api.name,
                "primitives": primitives,
                "doc": api.doc,
                "methods": methods,
            }))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn method_json(api: &RobotApi, method: &Method) -> Value {
    let parameters: Vec<Value> = method.params.iter().map(parameter_json).collect();
    let (returns, fields) = match method.returns {
        Returns::Record(record) => (record.name, record.fields.iter().map(field_json).collect()),
        Returns::Array(what) | Returns::Dict(what) => (what, Vec::new()),
        Returns::Bytes => ("bytes", Vec::new()),
        Returns::Nothing => ("None", Vec::new()),
    };
    json!({
        "name": method.name,
        "signature": format!("{}({})", method.name, api.signature(method)),
        "doc": method.doc,
        "moves": method.stateful(),
        "parameters": parameters,
        "exactly_one_of": method.exactly_one_of,
        "returns": returns,
        "fields": fields,
    })
}

fn parameter_json(param: &Param) -> Value {
    json!({
        "name": param.name,
        "type": param.ty.python_name(),
        "unit": param.unit,
        "required": param.default == Default::Required,
        "doc": param.doc,
    })
}

fn field_json(field: &Field) -> Value {
    json!({
        "name": field.name,
        "type": field.ty.python_name(),
        "unit": field.unit,
        "optional": field.optional,
        "doc": field.doc,
    })
}
