//! Just enough of ONNX's protobuf to write a model of a few nodes.

pub const FLOAT: u64 = 1;
pub const INT64: u64 = 7;

/// A graph under construction.
#[derive(Default)]
pub struct Graph(Vec<u8>);

impl Graph {
    pub fn input(self, name: &str, shape: &[u64]) -> Self {
        self.typed_input(name, shape, FLOAT)
    }

    pub fn typed_input(mut self, name: &str, shape: &[u64], element: u64) -> Self {
        message(&mut self.0, 11, &value_info(name, shape, element));
        self
    }

    pub fn output(mut self, name: &str, shape: &[u64]) -> Self {
        message(&mut self.0, 12, &value_info(name, shape, FLOAT));
        self
    }

    pub fn constant(self, name: &str, shape: &[u64], values: &[f32]) -> Self {
        self.tensor(name, shape, FLOAT, values.iter().flat_map(|v| v.to_le_bytes()).collect())
    }

    pub fn shape_constant(self, name: &str, values: &[i64]) -> Self {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.tensor(name, &[values.len() as u64], INT64, bytes)
    }

    /// `ReduceMean` keeps no axes, `Cast` goes to float.
    pub fn node(mut self, op: &str, inputs: &[&str], output: &str) -> Self {
        let mut node = Vec::new();
        for input in inputs {
            text(&mut node, 1, input);
        }
        text(&mut node, 2, output);
        text(&mut node, 4, op);
        match op {
            "ReduceMean" => message(&mut node, 5, &integer("keepdims", 0)),
            "Cast" => message(&mut node, 5, &integer("to", FLOAT)),
            _ => {}
        }
        message(&mut self.0, 1, &node);
        self
    }

    /// The model, for opset 13.
    pub fn bytes(&self) -> Vec<u8> {
        let mut graph = self.0.clone();
        text(&mut graph, 2, "graph");
        let mut opset = Vec::new();
        number(&mut opset, 2, 13);
        let mut model = Vec::new();
        number(&mut model, 1, 8);
        message(&mut model, 7, &graph);
        message(&mut model, 8, &opset);
        model
    }

    fn tensor(mut self, name: &str, shape: &[u64], element: u64, bytes: Vec<u8>) -> Self {
        let mut tensor = Vec::new();
        for &length in shape {
            number(&mut tensor, 1, length);
        }
        number(&mut tensor, 2, element);
        text(&mut tensor, 8, name);
        message(&mut tensor, 9, &bytes);
        message(&mut self.0, 5, &tensor);
        self
    }
}

fn value_info(name: &str, shape: &[u64], element: u64) -> Vec<u8> {
    let mut dimensions = Vec::new();
    for &length in shape {
        let mut dimension = Vec::new();
        number(&mut dimension, 1, length);
        message(&mut dimensions, 1, &dimension);
    }
    let mut tensor = Vec::new();
    number(&mut tensor, 1, element);
    message(&mut tensor, 2, &dimensions);
    let mut of_type = Vec::new();
    message(&mut of_type, 1, &tensor);
    let mut info = Vec::new();
    text(&mut info, 1, name);
    message(&mut info, 2, &of_type);
    info
}

fn integer(name: &str, value: u64) -> Vec<u8> {
    let mut attribute = Vec::new();
    text(&mut attribute, 1, name);
    number(&mut attribute, 3, value);
    number(&mut attribute, 20, 2);
    attribute
}

fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3);
    varint(out, value);
}

fn text(out: &mut Vec<u8>, field: u64, value: &str) {
    message(out, field, value.as_bytes());
}

fn message(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, value.len() as u64);
    out.extend(value);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
