//! Text for standard output. A reader that goes away (`| head`) is no error.

use std::io::Write as _;

pub fn line(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

pub fn json(value: &impl serde::Serialize) -> eyre::Result<()> {
    line(serde_json::to_string_pretty(value)?);
    Ok(())
}

/// The first characters of a text, with a mark when there are more.
pub fn cut(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
