//! The cells' shared Python, and what cells print.

use serde_json::{Map, Value};

/// Defines the helpers that the steps' cells call.
pub const HELPERS: &str = concat!(
    include_str!("../cells/sight.py"),
    "\n\n",
    include_str!("../cells/motion.py"),
    "\n\n",
    include_str!("../cells/grasp.py"),
    "\n\n",
    include_str!("../cells/place.py"),
    "\n\n",
    include_str!("../cells/fixtures.py"),
);

/// What one step measured: the fields of a line of JSON.
#[derive(Clone, Debug, Default)]
pub struct Measured(Map<String, Value>);

impl Measured {
    /// The measurements in what a cell printed, one a line.
    pub fn all(stdout: &str) -> Vec<Measured> {
        stdout
            .lines()
            .filter_map(|line| serde_json::from_str(line.trim()).ok().map(Measured))
            .collect()
    }

    /// A truth; false when it is not there.
    pub fn is(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(Value::as_f64)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }
}

/// A text as a Python literal.
pub fn quoted(text: &str) -> String {
    // JSON's string is one of Python's.
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_are_the_lines_that_are_json() {
        let found =
            Measured::all("moving\n{\"held\": true, \"opening\": 0.01}\n{\"done\": false}\n");
        assert_eq!(found.len(), 2);
        assert!(found[0].is("held") && !found[1].is("done") && !found[1].is("held"));
        assert_eq!(found[0].number("opening"), Some(0.01));
    }

    #[test]
    fn a_text_stays_a_text() {
        assert_eq!(quoted("the \"cup\"\n"), r#""the \"cup\"\n""#);
    }
}
