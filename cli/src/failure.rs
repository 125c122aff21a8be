//! How a command ends: exit status and one line that says why.

use std::process::ExitCode;

use eyre::{Report, Result};

/// The command line asks for something that is not there or makes no sense.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(String);

/// An error that ends `rua` with exit status 2.
pub fn usage(message: impl Into<String>) -> Report {
    Report::new(Usage(message.into()))
}

pub const WRONG_USAGE: u8 = 2;
pub const NOT_SOLVED: u8 = 3;

/// Prints an error as one line, its causes after it.
pub fn report(outcome: Result<ExitCode>) -> ExitCode {
    let error = match outcome {
        Ok(status) => return status,
        Err(error) => error,
    };
    eprintln!("rua: {}", line(&error));
    if error.is::<Usage>() { ExitCode::from(WRONG_USAGE) } else { ExitCode::FAILURE }
}

fn line(error: &Report) -> String {
    let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    causes.join(": ").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use eyre::eyre;

    use super::*;

    #[test]
    fn an_error_is_one_line() {
        let error = eyre!("a\nb").wrap_err("c");
        assert_eq!(line(&error), "c: a b");
    }
}
