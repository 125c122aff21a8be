//! The mind over standard input and output, for a harness in another language.
//!
//!     cargo run -p ruaflow-builtin --example mind -- "put the bowl on the plate"
//!
//! Each line out is `{"code", "title"}`, and each is answered by a line
//! `{"stdout", "error"}`, or by `{"over": true}` when the episode is over.

use std::io::{BufRead as _, Write as _, stdin, stdout};

use ruaflow_builtin::{Ran, World, solve};
use serde_json::{Value, json};

struct Lines;

impl World for Lines {
    type Over = String;

    fn run(&mut self, code: &str, title: &str) -> Result<Ran, String> {
        println!("{}", json!({ "code": code, "title": title }));
        stdout().flush().map_err(|error| error.to_string())?;
        let mut line = String::new();
        stdin().lock().read_line(&mut line).map_err(|error| error.to_string())?;
        let answer: Value = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        if answer["over"].as_bool() == Some(true) {
            return Err("over".to_owned());
        }
        Ok(Ran {
            stdout: answer["stdout"].as_str().unwrap_or_default().to_owned(),
            error: answer["error"].as_str().map(str::to_owned),
            names_lost: false,
        })
    }
}

fn main() {
    let instruction = std::env::args().nth(1).unwrap_or_default();
    let ending = match solve(&instruction, &mut Lines) {
        Ok(ending) => format!("{ending:?}"),
        Err(over) => over,
    };
    println!("{}", json!({ "ending": ending }));
}
