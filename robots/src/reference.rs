//! What an agent reads of a robot: its API, and what people know of it.

use std::fmt::Write as _;

use crate::api::{Constant, Field, Method, Mount, Param, Primitives, Record, Returns, RobotApi};
use crate::python::{field_line, param_line, returned};

impl RobotApi {
    /// The reference and the robot's operating knowledge. Markdown.
    #[must_use]
    pub fn manual(&self, primitives: Primitives) -> String {
        let mut text = self.reference(primitives);
        let knowledge = self.knowledge(primitives);
        if !knowledge.is_empty() {
            // `write!` to a String cannot fail.
            let _ = write!(text, "\n{knowledge}");
        }
        text
    }

    /// What people who have worked with the robot know, in Markdown; empty when
    /// nobody has written it down. Without a policy its "(VLA)" sections are left out.
    #[must_use]
    pub fn knowledge(&self, primitives: Primitives) -> String {
        let mut kept = true;
        let lines = self.knowledge.split_inclusive('\n').filter(|line| {
            if line.starts_with('#') {
                kept = primitives == Primitives::Full || !line.trim_end().ends_with("(VLA)");
            }
            kept
        });
        lines.collect()
    }

    /// The API as Markdown, for the prompt and for `docs/`. What several methods
    /// or results share is explained once.
    #[must_use]
    pub fn reference(&self, primitives: Primitives) -> String {
        self.reference_without(primitives, &[])
    }

    /// The reference without the methods of these names.
    #[must_use]
    pub fn reference_without(&self, primitives: Primitives, hidden: &[&str]) -> String {
        let methods: Vec<&Method> =
            self.methods_of(primitives).filter(|method| !hidden.contains(&method.name)).collect();
        let params =
            Shared::of(methods.iter().map(|method| method.params), |p: &Param| (p.name, p.doc));

        let mut out = self.setting();
        // `write!` to a String cannot fail.
        for attribute in self.attributes {
            let type_name = attribute.ty.python_name();
            let _ = writeln!(out, "- `robo.{}` ({type_name}): {}", attribute.name, attribute.doc);
        }
        let _ = writeln!(out, "\n## Methods");
        for method in &methods {
            self.write_method_text(&mut out, method, &params);
        }
        let _ = writeln!(out, "\n### Arguments that several methods take\n");
        for param in params.items.iter().filter(|param| !param.plain) {
            let _ = writeln!(out, "- {}", param_line(param));
        }
        let results = self.results(primitives, hidden);
        let _ = write!(out, "\n{results}\n## Errors\n\n{RAISED}\n");
        out
    }

    /// What the robot is, its constants, cameras and pictures: the beginning of the
    /// reference, and all of it that does not need code.
    #[must_use]
    pub fn setting(&self) -> String {
        let mut out = format!("# `robo` ({})\n\n{}\n\n", self.name, self.doc);
        self.write_names(&mut out);
        out
    }

    /// The records that the methods answer with, those of these names left out.
    #[must_use]
    pub fn results(&self, primitives: Primitives, hidden: &[&str]) -> String {
        let answers = |record: &Record| {
            let mut methods = self.methods_of(primitives);
            methods.any(|method| {
                !hidden.contains(&method.name)
                    && method.record().is_some_and(|own| own.name == record.name)
            })
        };
        let mut records = self.records_of(primitives);
        records.retain(|record| answers(record));
        let fields =
            Shared::of(records.iter().map(|record| record.fields), |f: &Field| (f.name, f.doc));
        let mut out =
            "## Results\n\nRecords with these fields; they can't be changed.\n".to_owned();
        for record in &records {
            write_record_text(&mut out, record, &fields);
        }
        // `write!` to a String cannot fail.
        let _ = writeln!(out, "\n### Fields that several results have\n");
        for field in fields.items.iter().filter(|field| !field.plain) {
            let _ = writeln!(out, "- {}", field_line(field));
        }
        out
    }

    fn write_names(&self, out: &mut String) {
        for Constant { name, value, unit, doc } in self.constants {
            let space = if unit.is_empty() { "" } else { " " };
            let _ = writeln!(out, "- `robo.{name} = {value:?}`{space}{unit}: {doc}");
        }
        for camera in self.cameras {
            let mount = match camera.mount {
                Mount::Fixed => "fixed",
                Mount::Wrist => "on the wrist",
            };
            let _ = writeln!(out, "- camera {:?} ({mount}): {}", camera.name, camera.doc);
        }
        let (high, low) = (self.resolutions.high, self.resolutions.low);
        let _ = writeln!(
            out,
            "- pictures: \"high\" is {} x {} pixels, \"low\" {} x {}; {} a side at most. Pixels \
             are (row, col) from the top left.",
            high.0, high.1, low.0, low.1, self.limits.max_picture_side
        );
    }

    fn write_method_text(&self, out: &mut String, method: &Method, shared: &Shared<Param>) {
        let _ = writeln!(
            out,
            "\n### `robo.{}({})` → {}\n\n{}",
            method.name,
            self.signature(method),
            returned(method.returns),
            method.doc
        );
        if !method.exactly_one_of.is_empty() {
            let _ = writeln!(out, "Give exactly one of {}.", method.exactly_one_of.join(" and "));
        }
        if let Returns::Dict(what) = method.returns {
            let _ = writeln!(out, "The dict holds {what}.");
        }
        let own = method.params.iter().filter(|p| !p.plain && !shared.has(p.name, p.doc));
        for (index, param) in own.enumerate() {
            let _ = writeln!(out, "{}- {}", if index == 0 { "\n" } else { "" }, param_line(param));
        }
    }
}

fn write_record_text(out: &mut String, record: &Record, shared: &Shared<Field>) {
    let names: Vec<&str> = record.fields.iter().map(|field| field.name).collect();
    let _ = writeln!(out, "\n`{}({})`", record.name, names.join(", "));
    let own = record.fields.iter().filter(|f| !f.plain && !shared.has(f.name, f.doc));
    for (index, field) in own.enumerate() {
        let _ = writeln!(out, "{}- {}", if index == 0 { "\n" } else { "" }, field_line(field));
    }
}

/// What appears more than once with the same words.
struct Shared<T: 'static> {
    items: Vec<&'static T>,
    key: fn(&T) -> (&'static str, &'static str),
}

impl<T> Shared<T> {
    fn of(
        lists: impl Iterator<Item = &'static [T]>,
        key: fn(&T) -> (&'static str, &'static str),
    ) -> Self {
        let all: Vec<&T> = lists.flatten().collect();
        let mut items: Vec<&T> = Vec::new();
        for (index, item) in all.iter().enumerate() {
            let again = all[index + 1..].iter().any(|later| key(later) == key(item));
            if again && !items.iter().any(|known| key(known) == key(item)) {
                items.push(item);
            }
        }
        Self { items, key }
    }

    fn has(&self, name: &str, doc: &str) -> bool {
        self.items.iter().any(|item| (self.key)(item) == (name, doc))
    }
}

const RAISED: &str = "\
- `ValueError`: an argument is not allowed (`TypeError`: it does not exist); nothing moved.
- `ToolError` (a `RuntimeError`; `.tool`, `.message`, `.payload`): the robot or a service failed, refused or was silent.
- `EpisodeFinished` (`.reason`: terminated, truncated, timeout, cancelled, call_budget): the episode is over. It stands outside `Exception`, so `except Exception` lets it through. Reading is still allowed.

Not reached, stalled, nothing found: such outcomes are results, never exceptions. Check them.";
