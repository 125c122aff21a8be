//! Whole programs: a file that defines `run(robo)`.

use std::path::{Component, Path};

use crate::script::Script;

/// Longest program, bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A program's cell, from its text or from a file of the workspace.
pub(super) fn source(workspace: &Path, code: &str, path: &str) -> Result<String, String> {
    match (code.trim().is_empty(), path.is_empty()) {
        (true, true) => {
            Err("run_program: give code, or the path of a file in the workspace".into())
        }
        (false, false) => Err("run_program: give code or path, not both".into()),
        (false, true) => cell(code),
        (true, false) => cell(&read(workspace, path)?),
    }
}

/// The cell that runs a program.
pub(super) fn cell(code: &str) -> Result<String, String> {
    let script = Script::program("program", code).map_err(|error| error.to_string())?;
    script.ok_or_else(|| "the program must define run(robo)".to_owned())
}

/// The one fenced block of Python in a reply; the last when there are several, all of
/// the text when it is code by itself.
pub(super) fn fenced(reply: &str) -> Option<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut open: Option<String> = None;
    for line in reply.lines() {
        let fence = line.trim_start().starts_with("```");
        match (&mut open, fence) {
            (None, true) => open = Some(String::new()),
            (Some(_), true) => blocks.extend(open.take()),
            (Some(block), false) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, false) => {}
        }
    }
    // A reply that was cut off within its block.
    blocks.extend(open);
    let runs = |block: &String| block.contains("def run(");
    let chosen = blocks.iter().rev().find(|block| runs(block)).or_else(|| blocks.last()).cloned();
    chosen.or_else(|| runs(&reply.to_owned()).then(|| reply.to_owned()))
}

fn read(workspace: &Path, path: &str) -> Result<String, String> {
    let fail = |why: &str| format!("run_program: file {path:?} {why}");
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(path).components().all(plain) {
        return Err(fail("is not in the workspace"));
    }
    let (root, file) = (workspace.canonicalize(), workspace.join(path).canonicalize());
    let (Ok(root), Ok(file)) = (root, file) else { return Err(fail("does not exist")) };
    if !file.starts_with(root) || !file.is_file() {
        return Err(fail("is not in the workspace"));
    }
    if file.metadata().is_ok_and(|data| data.len() > MAX_BYTES) {
        return Err(fail("is too long"));
    }
    std::fs::read_to_string(file).map_err(|error| fail(&format!("can't be read: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "def run(robo):\n    return robo.task\n";

    #[test]
    fn a_program_is_code_or_a_file_and_nothing_outside() {
        let tmp = tempfile::tempdir().unwrap();
        let workspace = tmp.path().join("workspace");
        std::fs::create_dir(&workspace).unwrap();
        std::fs::write(workspace.join("p.py"), PROGRAM).unwrap();
        std::fs::write(tmp.path().join("secret.py"), PROGRAM).unwrap();
        std::os::unix::fs::symlink(tmp.path().join("secret.py"), workspace.join("link.py"))
            .unwrap();
        let cell = source(&workspace, PROGRAM, "").unwrap();
        assert!(cell.ends_with("run(robo)\n"), "{cell}");
        assert_eq!(source(&workspace, "", "p.py").unwrap(), cell);
        assert_eq!(source(&workspace, "", "./p.py").unwrap(), cell);
        for path in ["../secret.py", "/etc/passwd", "link.py", "none.py", "."] {
            let error = source(&workspace, "", path).unwrap_err();
            assert!(error.contains(path), "{error}");
        }
        assert!(source(&workspace, "", "").unwrap_err().contains("give code"));
        assert!(source(&workspace, PROGRAM, "p.py").unwrap_err().contains("not both"));
        assert!(source(&workspace, "x = 1\n", "").unwrap_err().contains("run(robo)"));
        assert!(source(&workspace, "def run(robo:\n", "").unwrap_err().contains(" line "));
    }

    #[test]
    fn the_program_of_a_reply_is_found() {
        let block = |text: &str| fenced(text).unwrap();
        assert_eq!(block(&format!("Here:\n```python\n{PROGRAM}```\nDone.")), PROGRAM);
        assert_eq!(block(&format!("```py\n{PROGRAM}```\n```\noutput\n```")), PROGRAM);
        assert_eq!(block(&format!("```python\n{PROGRAM}")), PROGRAM, "cut off");
        assert_eq!(block(PROGRAM), PROGRAM, "bare");
        assert_eq!(fenced("I can't do that."), None);
    }
}
