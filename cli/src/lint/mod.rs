//! `rua lint`: what is wrong with a policy, told without running it.

mod bindings;
mod calls;
mod finding;
mod interpreter;
mod literal;
mod references;

use std::path::Path;
use std::process::ExitCode;

use cell_runner::audit::{self, FlagKind};
use eyre::{Result, WrapErr as _};
use ruaflow_robots::{Primitives, RobotApi, UnknownPrimitives};
use ruff_python_ast::{ModModule, PySourceType};
use ruff_python_parser::parse_unchecked_source;
use ruff_text_size::Ranged as _;

use self::bindings::Bindings;
use self::finding::{Finding, Source};
use self::interpreter::Interpreter;
use self::references::References;
use crate::args::Lint;
use crate::clone::Clone;
use crate::failure::usage;
use crate::print;

/// Names that every cell has, besides Python's own.
const GIVEN: &[&str] = &[
    "EpisodeFinished",
    "ToolError",
    "__name__",
    "display",
    "finish",
    "help",
    "log",
    "math",
    "np",
    "numpy",
    "robo",
    "time",
];

pub fn run(args: &Lint) -> Result<ExitCode> {
    let api = ruaflow_robots::find(&args.robot).map_err(|error| usage(error.to_string()))?;
    let primitives: Primitives =
        args.primitives.parse().map_err(|error: UnknownPrimitives| usage(error.to_string()))?;
    let interpreter = Interpreter::new(&Clone::find()?);
    let mut errors = 0;
    let mut told = Vec::new();
    for policy in &args.policies {
        let text = read(policy)?;
        let source = Source::new(policy, &text);
        for finding in findings(&text, api, primitives, &interpreter)? {
            errors += usize::from(finding.is_error);
            if args.json {
                told.push(source.json(&finding));
            } else {
                print::line(source.line(&finding));
            }
        }
    }
    if args.json {
        print::json(&told)?;
    } else if errors == 0 {
        print::line(format_args!("✓ nothing is wrong for the robot {:?}", api.name));
    }
    Ok(if errors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read(policy: &Path) -> Result<String> {
    if !policy.is_file() {
        return Err(usage(format!("there is no policy file {policy:?}")));
    }
    let bytes = std::fs::read(policy).wrap_err_with(|| format!("can't read {policy:?}"))?;
    let text =
        String::from_utf8(bytes).map_err(|_| usage(format!("{policy:?} is not UTF-8 text")))?;
    // The planner skips the mark of its byte order, too.
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

/// Everything that is wrong or worth a word, in the order of the source.
fn findings(
    text: &str,
    api: &'static RobotApi,
    primitives: Primitives,
    interpreter: &Interpreter,
) -> Result<Vec<Finding>> {
    let parsed = parse_unchecked_source(text, PySourceType::Python);
    let mut findings: Vec<Finding> = parsed
        .errors()
        .iter()
        .map(|error| Finding::error(error.location.start(), error.error.to_string()))
        .chain(
            parsed
                .unsupported_syntax_errors()
                .iter()
                .map(|error| Finding::error(error.range.start(), error.to_string())),
        )
        .collect();
    if findings.is_empty() {
        findings = of_module(parsed.syntax(), api, primitives, interpreter)?;
    } else {
        // What follows a syntax error is a guess.
        findings.truncate(1);
    }
    findings.sort_by_key(|finding| finding.offset);
    Ok(findings)
}

fn of_module(
    module: &ModModule,
    api: &'static RobotApi,
    primitives: Primitives,
    interpreter: &Interpreter,
) -> Result<Vec<Finding>> {
    if module.body.is_empty() {
        let nothing = "there is no code in it".to_owned();
        return Ok(vec![Finding::error(module.start(), nothing)]);
    }
    let bindings = Bindings::of(module, api);
    let references = References::of(module, &bindings);
    let mut findings = calls::check(module, api, primitives, &bindings);
    findings.extend(references.missing_modules());
    findings.extend(interpreter.check(&references, &bindings, GIVEN)?);
    let flags = audit::audit(module).into_iter();
    findings.extend(flags.filter(|flag| flag.kind != FlagKind::Import).map(|flag| {
        let offset = u32::try_from(flag.offset).unwrap_or(u32::MAX).into();
        let meaning = flag.kind.meaning();
        Finding::warning(offset, format!("the audit records {:?}: {meaning}", flag.to_string()))
    }));
    Ok(findings)
}
