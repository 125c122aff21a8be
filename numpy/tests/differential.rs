//! The module against CPython with numpy: the same snippets in both, every field compared.
//!
//! `tests/differential/snippets.txt` has the written ones, `cases.py` generates the others
//! from a seed. What is known to differ is in `tests/differential/known.txt`, with its reason.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const SEED: &str = "20260";
const COUNT: &str = "3600";

/// How far floats may be apart where numpy's own loops are only accurate to some last bits.
#[derive(Clone, Copy)]
struct Tolerance {
    double: f64,
    single: f64,
    half: f64,
}

impl Tolerance {
    fn of(kind: &str) -> Option<Self> {
        match kind {
            "close" => Some(Self { double: 4e-15, single: 1e-6, half: 2e-3 }),
            "linalg" => Some(Self { double: 1e-11, single: 2e-4, half: 4e-3 }),
            _ => None,
        }
    }
}

#[test]
fn snippets_do_the_same_as_in_numpy() {
    let cases = reference(SEED, COUNT);
    assert!(cases.len() > 3_800, "only {} cases", cases.len());
    let codes: Vec<String> = cases.iter().map(|case| text(case, "code")).collect();
    let outcomes = common::in_interpreter(move |python| {
        codes.iter().map(|code| python.describe(code)).collect::<Vec<Value>>()
    });
    let known = known();
    let mut unlike = Vec::new();
    for (case, outcome) in cases.iter().zip(&outcomes) {
        let (code, kind) = (text(case, "code"), text(case, "kind"));
        let tolerance = Tolerance::of(if kind == "written" { "close" } else { &kind });
        let differences = compare(&case["expected"], outcome, tolerance);
        if !differences.is_empty() && !known.iter().any(|known| code.contains(known)) {
            unlike.push(format!("{code}\n  {}\n", differences.join("\n  ")));
        }
    }
    if let Some(path) = std::env::var_os("RUAFLOW_DIFFERENCES") {
        std::fs::write(path, unlike.join("\n")).unwrap();
    }
    let shown: Vec<&str> = unlike.iter().take(25).map(String::as_str).collect();
    assert!(
        unlike.is_empty(),
        "{} of {} snippets differ from numpy, the first are:\n\n{}",
        unlike.len(),
        cases.len(),
        shown.join("\n")
    );
}

/// The cases with what CPython makes of them.
fn reference(seed: &str, count: &str) -> Vec<Value> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = here.join("../.venv/bin/python");
    let output = Command::new(&python)
        .arg("-B")
        .arg(here.join("tests/differential/reference.py"))
        .args([seed, count])
        .output()
        .unwrap_or_else(|error| panic!("{} (./rua setup makes it): {error}", python.display()));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "reference.py: {complaint}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Pieces of code whose results are known to differ.
fn known() -> Vec<String> {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/known.txt");
    let lines = std::fs::read_to_string(path).unwrap();
    let pieces = lines.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    pieces.map(str::to_owned).collect()
}

fn text(case: &Value, name: &str) -> String {
    case[name].as_str().unwrap().to_owned()
}

/// What differs, field by field.
fn compare(expected: &Value, got: &Value, tolerance: Option<Tolerance>) -> Vec<String> {
    let mut differences = Vec::new();
    walk("r", expected, got, tolerance, &mut differences);
    differences
}

fn walk(
    path: &str,
    expected: &Value,
    got: &Value,
    tolerance: Option<Tolerance>,
    differences: &mut Vec<String>,
) {
    let fields = [
        "error",
        "kind",
        "dtype",
        "shape",
        "values",
        "writeable",
        "repr",
        "str",
        "items",
        "warnings",
    ];
    let mut bits_differ = false;
    if wider(expected, got) || told_first(expected, got) {
        return;
    }
    for field in fields {
        let (a, b) = (&expected[field], &got[field]);
        if a == b || field == "warnings" && warnings(a) == warnings(b) {
            continue;
        }
        // An error's class is compared, its text is ours.
        if field == "warnings" && tolerance.is_some() && !expected["error"].is_null() {
            continue;
        }
        if let (Value::Array(a), Value::Array(b)) = (a, b)
            && a.len() == b.len()
            && (field == "items" || field == "values")
        {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                if field == "items" {
                    pair(&format!("{path}[{at}]"), a, b, tolerance, differences);
                } else if a != b {
                    bits_differ = true;
                    let dtype = expected["dtype"].as_str().or(expected["kind"].as_str());
                    if !tolerance.is_some_and(|allowed| close(a, b, dtype.unwrap_or(""), allowed)) {
                        differences.push(format!("{path}.{field}[{at}]: numpy {a}, ours {b}"));
                    }
                }
            }
            continue;
        }
        // Digits that differ in the last place are printed as they are.
        if (field == "repr" || field == "str") && bits_differ {
            continue;
        }
        differences.push(format!("{path}.{field}: numpy {a}, ours {b}"));
    }
    if !expected["error"].is_null() && expected["error"] != got["error"] {
        differences.push(format!("  numpy says {}, ours {}", expected["text"], got["text"]));
    } else if !got["error"].is_null() && expected["error"].is_null() {
        differences.push(format!("  ours says {}", got["text"]));
    }
}

/// Types that the module lacks come as the nearest that it has.
fn wider(expected: &Value, got: &Value) -> bool {
    let of = |value: &Value| {
        let field =
            if value["kind"] == "array" || value["kind"] == "dtype" { "dtype" } else { "kind" };
        value[field].as_str().unwrap_or_default().to_owned()
    };
    let pair = (of(expected), of(got));
    matches!((pair.0.as_str(), pair.1.as_str()), ("uint64", "int64") | ("int8", "uint8"))
        && expected["values"] == got["values"]
        && expected["shape"] == got["shape"]
}

/// With types and shapes both wrong, numpy tells the types first.
fn told_first(expected: &Value, got: &Value) -> bool {
    let text = got["text"].as_str().unwrap_or_default();
    expected["error"] == "TypeError" && got["error"] == "ValueError" && text.contains("broadcast")
}

/// Warnings, without those that the engine does not give, and without the word by which
/// numpy tells operations between scalars.
fn warnings(value: &Value) -> Vec<String> {
    const NOT_GIVEN: [&str; 4] = ["in cast", "in reduce", "in logaddexp", "in reciprocal"];
    let texts = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut texts: Vec<String> = texts
        .filter(|text| !NOT_GIVEN.iter().any(|unknown| text.ends_with(unknown)))
        .map(|text| text.replace(" in scalar ", " in "))
        .collect();
    texts.sort();
    texts.dedup();
    texts
}

/// An item: an object with fields, or a pair of a dict.
fn pair(
    path: &str,
    a: &Value,
    b: &Value,
    tolerance: Option<Tolerance>,
    differences: &mut Vec<String>,
) {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                walk(&format!("{path}.{at}"), a, b, tolerance, differences);
            }
        }
        _ => walk(path, a, b, tolerance, differences),
    }
}

fn close(a: &Value, b: &Value, dtype: &str, allowed: Tolerance) -> bool {
    let (Some(a), Some(b)) = (number(a), number(b)) else { return false };
    let relative = match dtype {
        "float16" => allowed.half,
        "float32" => allowed.single,
        _ => allowed.double,
    };
    a == b || (a - b).abs() <= relative * a.abs().max(b.abs()).max(1.0)
}

/// A float as Python's `hex()` writes it.
fn number(value: &Value) -> Option<f64> {
    let text = value.as_str()?;
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text),
    };
    let (whole, fraction) = rest.strip_prefix("0x")?.split_once('.')?;
    let (digits, exponent) = fraction.split_once('p')?;
    let mantissa = u64::from_str_radix(digits, 16).ok()? as f64 / 16f64.powi(digits.len() as i32);
    let whole: f64 = whole.parse().ok()?;
    Some(sign * (whole + mantissa) * 2f64.powi(exponent.parse().ok()?))
}
