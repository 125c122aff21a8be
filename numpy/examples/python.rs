//! Runs a Python file with the module and prints the value of its last expression.
//!
//! `./rua cargo run -p ruaflow-numpy --example python FILE`

#![allow(clippy::unwrap_used)]

#[path = "../tests/common/mod.rs"]
mod common;

fn main() {
    let path = std::env::args().nth(1).expect("usage: python FILE");
    let code = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let text = common::in_interpreter(move |python| {
        let vm = python.vm;
        match python.run(&code).and_then(|value| value.str(vm)) {
            Ok(text) => text.to_string_lossy().into_owned(),
            Err(error) => {
                let mut text = String::new();
                vm.write_exception(&mut text, &error).unwrap();
                panic!("{text}")
            }
        }
    });
    println!("{text}");
}
