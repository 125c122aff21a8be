use std::io::{self, BufRead as _, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};

/// A real, small model behind a server that is not ours: llama.cpp, on one thread, as
/// the PyPI packages of `tests/requirements.txt` have it. It ends when dropped.
#[derive(Debug)]
pub struct LocalModel {
    process: Child,
    /// The server ends with its input.
    input: Option<ChildStdin>,
    url: String,
}

impl LocalModel {
    pub const NAME: &'static str = "SmolLM2-135M-Instruct";

    /// Starts it with the Python that `RUAFLOW_LOCAL_MODEL` names; `./rua test --models`
    /// makes one that has the packages.
    ///
    /// # Errors
    /// When there is none, or its server does not come up.
    pub fn start() -> io::Result<Self> {
        let python = std::env::var_os("RUAFLOW_LOCAL_MODEL").ok_or_else(not_there)?;
        let mut process = Command::new(python)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/local_model.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut model = LocalModel { input: process.stdin.take(), process, url: String::new() };
        let printed = model.process.stdout.take().ok_or_else(not_there)?;
        let mut address = String::new();
        BufReader::new(printed).read_line(&mut address)?;
        if address.trim().is_empty() {
            return Err(not_there());
        }
        model.url = format!("{}/v1", address.trim());
        Ok(model)
    }

    /// For `--base-url`.
    pub fn url(&self) -> &str {
        &self.url
    }
}

fn not_there() -> io::Error {
    io::Error::other("there is no local model: run `./rua test --models`")
}

impl Drop for LocalModel {
    fn drop(&mut self) {
        drop(self.input.take());
        // It has been started by us and may have ended.
        let _ = self.process.wait();
    }
}
