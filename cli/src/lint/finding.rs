//! Something to tell of a policy, and where it is.

use std::path::Path;

use ruff_text_size::TextSize;
use serde_json::{Value, json};

pub(super) struct Finding {
    pub offset: TextSize,
    /// Otherwise a warning: the policy runs, and is recorded as odd.
    pub is_error: bool,
    pub text: String,
}

impl Finding {
    pub fn error(offset: TextSize, text: String) -> Self {
        Self { offset, is_error: true, text }
    }

    pub fn warning(offset: TextSize, text: String) -> Self {
        Self { offset, is_error: false, text }
    }
}

/// A file's lines.
pub(super) struct Source<'a> {
    file: String,
    text: &'a str,
}

impl<'a> Source<'a> {
    pub fn new(file: &Path, text: &'a str) -> Self {
        Self { file: file.display().to_string(), text }
    }

    /// `file:line:column: error: text`.
    pub fn line(&self, finding: &Finding) -> String {
        let (line, column) = self.place(finding.offset);
        let text = finding.text.replace('\n', " ");
        format!("{}:{line}:{column}: {}: {text}", self.file, kind(finding))
    }

    pub fn json(&self, finding: &Finding) -> Value {
        let (line, column) = self.place(finding.offset);
        json!({
            "file": self.file, "line": line, "column": column,
            "kind": kind(finding), "text": finding.text,
        })
    }

    /// Line and column, in characters, both from 1.
    fn place(&self, offset: TextSize) -> (usize, usize) {
        let before = &self.text[..self.text.floor_char_boundary(offset.to_usize())];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        (line, before[start..].chars().count() + 1)
    }
}

fn kind(finding: &Finding) -> &'static str {
    if finding.is_error { "error" } else { "warning" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_lines_and_characters() {
        let source = Source::new(Path::new("p.py"), "a = 1\n«ä» = robo.x\n");
        let at = |offset: u32| source.place(offset.into());
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(6), (2, 1));
        assert_eq!(at(15), (2, 7));
        let finding = Finding::error(6.into(), "two\nlines".to_owned());
        assert_eq!(source.line(&finding), "p.py:2:1: error: two lines");
    }
}
