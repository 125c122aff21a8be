//! The API reference an agent reads.

use std::fmt::Write as _;

use crate::api::{Mount, RobotApi};
use crate::python::{field_line, param_line};

impl RobotApi {
    /// The reference as Markdown, for the prompt and for `docs/`.
    #[must_use]
    pub fn reference(&self) -> String {
        let mut out = String::new();
        // `write!` to a String cannot fail.
        let _ = writeln!(out, "# `robo` on {}\n\n{}\n", self.name, self.doc);

        let _ = writeln!(out, "## Constants and attributes\n");
        for constant in self.constants {
            let unit = if constant.unit.is_empty() {
                String::new()
            } else {
                format!(" {}", constant.unit)
            };
            let _ = writeln!(
                out,
                "- `robo.{} = {:?}`{unit}: {}",
                constant.name, constant.value, constant.doc
            );
        }
        for attribute in self.attributes {
            let _ = writeln!(
                out,
                "- `robo.{}` ({}): {}",
                attribute.name,
                attribute.ty.python_name(),
                attribute.doc
            );
        }

        let _ = writeln!(out, "\n## Methods");
        for method in self.methods {
            let _ = writeln!(
                out,
                "\n### `robo.{}({}) -> {}`\n\n{}\n",
                method.name,
                method.signature(),
                method.result.name,
                method.doc
            );
            for param in method.params {
                let _ = writeln!(out, "- {}", param_line(param));
            }
            if !method.exactly_one_of.is_empty() {
                let _ =
                    writeln!(out, "\nGive exactly one of {}.", method.exactly_one_of.join(" and "));
            }
        }

        let _ =
            writeln!(out, "\n## Results\n\nRecords of what was measured; they cannot be changed.");
        for record in self.records() {
            let _ = writeln!(out, "\n### `{}`\n\n{}\n", record.name, record.doc);
            for field in record.fields {
                let _ = writeln!(out, "- {}", field_line(field));
            }
        }

        let _ = writeln!(out, "\n## Cameras\n");
        for camera in self.cameras {
            let mount = match camera.mount {
                Mount::Fixed => "fixed",
                Mount::Wrist => "on the wrist",
            };
            let _ = writeln!(out, "- `{}` ({mount}): {}", camera.name, camera.doc);
        }

        let _ = writeln!(out, "\n## What is raised\n");
        out.push_str(RAISED);
        out
    }
}

const RAISED: &str = "\
Calls that move the robot block and return what happened. A measured failure (not reached, stalled) is a result, never an exception.

- `ValueError`: an argument is not allowed; nothing moved.
- `ToolError` (a `RuntimeError`; `.tool`, `.message`, `.payload`): the robot or a service failed or did not answer.
- `EpisodeFinished` (`.reason`): the episode is over. It stands outside `Exception`, so `except Exception` does not catch it; reading is still allowed.
";
