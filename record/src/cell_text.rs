use ruaflow_schemas::CellResult;

/// What an agent reads after a cell: the feedback that its runner wrote, else its
/// output, the value of its last expression and how it failed, if it did.
pub fn cell_text(result: &CellResult) -> String {
    if !result.feedback.is_empty() {
        return result.feedback.clone();
    }
    let mut parts = Vec::new();
    let mut add = |title: &str, text: &str| {
        let text = text.trim_end_matches('\n');
        if !text.is_empty() {
            parts.push(if title.is_empty() {
                text.to_owned()
            } else {
                format!("[{title}]\n{text}")
            });
        }
    };
    add("", &result.stdout);
    add("stderr", &result.stderr);
    add("value", &result.value);
    add(if result.error.is_empty() { "" } else { &result.status }, &result.error);
    if result.namespace_lost {
        add("", "[the namespace is lost: the next cell starts with an empty one]");
    }
    if !result.finish_status.is_empty() {
        add("finish", &format!("{}: {}", result.finish_status, result.finish_summary));
    }
    if parts.is_empty() {
        parts.push("[no output]".to_owned());
    }
    parts.join("\n") + "\n"
}

/// The end of the name of a file that holds a cell's picture: `2-agentview.png`.
pub fn picture_name(number: usize, shows: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let shows: String = shows.chars().take(40).map(plain).collect();
    format!("{number}-{shows}.png")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_value_and_error_are_told_apart() {
        let result = CellResult {
            status: "error".into(),
            stdout: "moved\n".into(),
            value: "3".into(),
            error: "Traceback …\nValueError: no".into(),
            ..CellResult::default()
        };
        assert_eq!(cell_text(&result), "moved\n[value]\n3\n[error]\nTraceback …\nValueError: no\n");
    }

    #[test]
    fn a_silent_cell_says_so() {
        assert_eq!(
            cell_text(&CellResult { status: "ok".into(), ..CellResult::default() }),
            "[no output]\n"
        );
    }
}
