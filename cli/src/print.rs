//! Text for standard output. A reader that goes away (`| head`) is no error.

use std::io::Write as _;

pub fn line(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

pub fn json(value: &impl serde::Serialize) -> eyre::Result<()> {
    line(serde_json::to_string_pretty(value)?);
    Ok(())
}
