//! The backend `script`: plays a Python file.

use std::path::Path;
use std::sync::Arc;

use ruff_python_ast::ModModule;
use ruff_python_parser::{Parsed, parse_module};

use crate::backend::{Backend, Ending};
use crate::episode::Episode;

const MARKER: &str = "# %%";

/// A policy file, split into cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    cells: Arc<[ScriptCell]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ScriptCell {
    code: String,
    title: String,
}

/// Why a policy file can't be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    #[error("policy {file} line {line}: {reason}")]
    Syntax { file: String, line: usize, reason: String },
    #[error("policy {file}: {reason}")]
    File { file: String, reason: String },
}

impl Script {
    /// Reads a policy's text; `file` names it in errors.
    ///
    /// A file with lines that start with `# %%` holds a cell after each of them,
    /// named by the rest of the line, and one before the first if there is code.
    /// Without such lines a file that defines `run(robo)` is a program: one cell
    /// that calls it. Any other file is one cell.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScriptError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let cells = if text.lines().any(is_marker) {
            parse_cells(file, text)?
        } else {
            parse_whole(file, text)?
        };
        if cells.is_empty() {
            let reason = "there is no code in it".to_owned();
            return Err(ScriptError::File { file: file.to_owned(), reason });
        }
        Ok(Script { cells: cells.into() })
    }

    /// Reads and checks a policy file; also returns its bytes.
    pub fn load(path: &Path) -> Result<(Self, Vec<u8>), ScriptError> {
        let file = path.display().to_string();
        let fail = |reason: String| ScriptError::File { file: file.clone(), reason };
        let bytes = std::fs::read(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => fail("there is no such file".to_owned()),
            _ => fail(error.to_string()),
        })?;
        let text =
            std::str::from_utf8(&bytes).map_err(|_| fail("it is not UTF-8 text".to_owned()))?;
        Ok((Self::parse(&file, text)?, bytes))
    }

    /// The code of each cell and its title, in order; there is one at least.
    pub fn cells(&self) -> impl Iterator<Item = (&str, &str)> {
        self.cells.iter().map(|cell| (cell.code.as_str(), cell.title.as_str()))
    }

    /// Plays the script from its beginning.
    pub fn player(&self) -> Box<dyn Backend> {
        Box::new(Player { cells: self.cells.clone() })
    }

    /// The cell that runs a program; `None` when the text defines no `run(robo)`.
    ///
    /// # Errors
    /// [`ScriptError::Syntax`].
    pub fn program(file: &str, text: &str) -> Result<Option<String>, ScriptError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let module = parse(file, 1, text)?;
        Ok(is_program(&module).then(|| program_cell(text)))
    }
}

struct Player {
    cells: Arc<[ScriptCell]>,
}

impl Backend for Player {
    fn play(&mut self, episode: &mut Episode) -> Result<Ending, String> {
        for cell in self.cells.iter() {
            match episode.run(&cell.code, &cell.title) {
                Ok(result) if result.status == "ok" => {}
                Ok(_) => return Ok(Ending::CellFailed),
                Err(over) => return Ok(over.into()),
            }
        }
        Ok(Ending::Played)
    }
}

fn parse_cells(file: &str, text: &str) -> Result<Vec<ScriptCell>, ScriptError> {
    let mut cells = Vec::new();
    // First line, counted from 1, title and text.
    let mut open = (1, String::new(), String::new());
    let mut close = |(line, title, code): (usize, String, String)| -> Result<(), ScriptError> {
        if holds_code(file, line, &code)? {
            cells.push(ScriptCell { code, title });
        }
        Ok(())
    };
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if is_marker(line) {
            let title = title(line).to_owned();
            close(std::mem::replace(&mut open, (index + 1, title, String::new())))?;
        }
        open.2.push_str(line);
    }
    close(open)?;
    Ok(cells)
}

fn parse_whole(file: &str, text: &str) -> Result<Vec<ScriptCell>, ScriptError> {
    if !holds_code(file, 1, text)? {
        return Ok(Vec::new());
    }
    let code =
        if is_program(&parse(file, 1, text)?) { program_cell(text) } else { text.to_owned() };
    Ok(vec![ScriptCell { code, title: String::new() }])
}

fn is_program(module: &Parsed<ModModule>) -> bool {
    let functions =
        module.syntax().body.iter().filter_map(|statement| statement.as_function_def_stmt());
    functions
        .into_iter()
        .any(|function| function.name.as_str() == "run" && function.parameters.len() == 1)
}

fn program_cell(text: &str) -> String {
    format!("{}\n\nrun(robo)\n", text.trim_end())
}

/// Whether the text, which begins at `first_line`, does anything; a lone text is documentation.
fn holds_code(file: &str, first_line: usize, text: &str) -> Result<bool, ScriptError> {
    let module = parse(file, first_line, text)?;
    Ok(!module.syntax().body.iter().all(|statement| {
        statement.as_expr_stmt().is_some_and(|expression| expression.value.is_string_literal_expr())
    }))
}

fn parse(file: &str, first_line: usize, text: &str) -> Result<Parsed<ModModule>, ScriptError> {
    parse_module(text).map_err(|error| {
        let at = error.location.start().to_usize().min(text.len());
        let line = first_line + text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count();
        ScriptError::Syntax { file: file.to_owned(), line, reason: error.error.to_string() }
    })
}

/// What a cell is called: the rest of a marker in its first line.
pub(crate) fn title(code: &str) -> &str {
    code.lines().next().and_then(|line| line.strip_prefix(MARKER)).map_or("", str::trim)
}

fn is_marker(line: &str) -> bool {
    line.starts_with(MARKER)
}

#[cfg(test)]
mod tests {
    use ruaflow_schemas::CellResult;

    use super::*;

    fn cells(text: &str) -> Vec<(String, String)> {
        let script = Script::parse("p.py", text).unwrap();
        script.cells.iter().map(|c| (c.title.clone(), c.code.clone())).collect()
    }

    fn error(text: &str) -> String {
        Script::parse("p.py", text).unwrap_err().to_string()
    }

    /// Plays the text; each cell ends with the next status.
    fn play<const N: usize>(text: &str, statuses: [&'static str; N]) -> (Ending, usize) {
        let mut statuses = statuses.into_iter();
        let (mut episode, ran) = crate::rehearsal::episode(move |_, _| CellResult {
            status: statuses.next().unwrap().into(),
            ..CellResult::default()
        });
        let ending = Script::parse("p.py", text).unwrap().player().play(&mut episode).unwrap();
        (ending, ran.cells().len())
    }

    #[test]
    fn cells_are_split_at_their_markers() {
        let text = "\"\"\"A policy.\"\"\"\n# a comment\n# %% approach the bowl\nx = 1\n# %%\n# only a comment\n# %% lift\nx + 1";
        assert_eq!(
            cells(text),
            [
                ("approach the bowl".to_owned(), "# %% approach the bowl\nx = 1\n".to_owned()),
                ("lift".to_owned(), "# %% lift\nx + 1".to_owned()),
            ]
        );
    }

    #[test]
    fn code_before_the_first_marker_is_a_cell() {
        assert_eq!(cells("import math\n# %%\nmath.pi\n").len(), 2);
    }

    #[test]
    fn a_program_is_one_cell_that_calls_run() {
        let text = "def run(robo):\n    return robo.task\n";
        assert_eq!(
            cells(text),
            [(String::new(), "def run(robo):\n    return robo.task\n\nrun(robo)\n".to_owned())]
        );
        assert_eq!(
            cells("def run():\n    pass\n")[0].1,
            "def run():\n    pass\n",
            "another kind of run"
        );
        let both = "def run(robo):\n    pass\n# %%\nrun(robo)\n";
        assert_eq!(cells(both).len(), 2);
    }

    #[test]
    fn a_file_without_cells_or_program_is_one_cell() {
        assert_eq!(cells("print(1)\r\nprint(2)\r\n").len(), 1);
        assert_eq!(cells("\u{feff}x = 1\n")[0].1, "x = 1\n");
    }

    #[test]
    fn a_syntax_error_names_the_files_line() {
        let text = "# %% one\nx = 1\n# %% two\ny = 2\nfor in 3:\n    pass\n";
        let error = error(text);
        assert!(error.starts_with("policy p.py line 5: "), "{error}");
        assert_eq!(error.lines().count(), 1);
        assert!(self::error("def run(robo):\n  x = (\n").contains("line "));
    }

    #[test]
    fn a_file_without_code_is_an_error() {
        for text in ["", "\n\n", "# nothing\n", "# %%\n# %%\n", "\"\"\"doc\"\"\"\n"] {
            assert_eq!(error(text), "policy p.py: there is no code in it", "{text:?}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_says_why() {
        let tmp = tempfile::tempdir().unwrap();
        let error = Script::load(&tmp.path().join("none.py")).unwrap_err().to_string();
        assert!(error.ends_with("none.py: there is no such file"), "{error}");
        let binary = tmp.path().join("x.py");
        std::fs::write(&binary, [0xff, 0xfe, 0x00]).unwrap();
        assert!(Script::load(&binary).unwrap_err().to_string().contains("UTF-8"));
    }

    #[test]
    fn cells_are_played_one_a_turn_until_one_fails() {
        let text = "# %% a\n1\n# %% b\n2\n";
        assert_eq!(play(text, ["ok", "ok"]), (Ending::Played, 2));
        for status in ["error", "timeout", "crashed"] {
            assert_eq!(play(text, [status]), (Ending::CellFailed, 1));
        }
    }
}
