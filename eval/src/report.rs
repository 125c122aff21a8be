//! One page that shows what was measured: as HTML that needs nothing else, and
//! the tables as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use minijinja::Environment;
use serde::Serialize;

use crate::compare::Comparison;
use crate::stats::median;
use crate::summary::{Grouping, Summary, summarize};
use crate::text::{interval, number, percent, share, short};
use crate::thumbnails::thumbnails;
use crate::trial::{Numbers, Outcome, Trial};

/// Episodes that are shown with pictures.
const SHOWN: usize = 60;

/// Room for names at the left of a plot, and its right edge, in its own units.
const LEFT: f64 = 260.0;
const RIGHT: f64 = 880.0;
const ROW: f64 = 32.0;

/// The page as HTML.
///
/// # Errors
/// When the template fails, which is an error in this crate.
pub fn html(
    title: &str,
    trials: &[Trial],
    comparisons: &[Comparison],
) -> Result<String, minijinja::Error> {
    let mut env = Environment::new();
    env.add_filter("percent", percent);
    env.add_filter("number", number);
    env.add_filter("p", |p: f64| if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") });
    env.add_template("report.html", include_str!("report.html"))?;
    let overall = summarize(trials, Grouping::All);
    let causes: Vec<Cause> = overall
        .iter()
        .flat_map(|summary| {
            let system = &summary.system;
            let cause = |(cause, count)| Cause { system: system.clone(), cause, count };
            summary.causes.iter().cloned().map(cause)
        })
        .collect();
    let dots: Vec<Dots> = [
        Dots::new("Control steps", trials, |n| n.steps),
        Dots::new("Input tokens", trials, |n| n.input_tokens.filter(|tokens| *tokens > 0.0)),
        Dots::new("Seconds", trials, |n| n.seconds),
    ]
    .into_iter()
    .flatten()
    .collect();
    let page = minijinja::value::Serde(Page {
        title,
        episodes: overall.iter().map(|s| s.episodes).sum(),
        infrastructure: overall.iter().map(|s| s.infrastructure).sum(),
        success: tables(trials),
        names: Numbers::NAMES,
        dots,
        times: times(trials),
        causes,
        comparisons,
        runs: shown(trials),
        overall,
    });
    env.get_template("report.html")?.render(page)
}

/// The tables as Markdown.
pub fn markdown(trials: &[Trial], comparisons: &[Comparison]) -> String {
    let mut text = String::new();
    for table in tables(trials) {
        let _ = writeln!(text, "| {} | system | solved | success | 95 % |", table.by);
        text.push_str("| --- | --- | --- | --- | --- |\n");
        for row in &table.rows {
            let [success, interval] = share(row.success);
            let (group, system) = (&row.group, &row.system);
            let solved = format!("{} / {}", row.solved, row.episodes);
            let _ = writeln!(text, "| {group} | {system} | {solved} | {success} | {interval} |");
        }
        text.push('\n');
    }
    for comparison in comparisons {
        text.push_str(&comparison_markdown(comparison));
    }
    text
}

fn comparison_markdown(c: &Comparison) -> String {
    let mut text = format!(
        "{} against {} on {} scenes: both solved {}, only the first {}, only the second {}, neither {}; \
         McNemar's exact test p = {:.3}.\n\n| on scenes both solved | {} | {} | difference | 95 % |\n\
         | --- | --- | --- | --- | --- |\n",
        c.left,
        c.right,
        c.pairs,
        c.both,
        c.left_only,
        c.right_only,
        c.neither,
        c.p,
        c.left,
        c.right
    );
    for d in &c.both_solved {
        let (left, right, delta) = (short(d.left), short(d.right), short(d.delta.value));
        let interval = interval(d.delta);
        let _ = writeln!(text, "| {} | {left} | {right} | {delta} | {interval} |", d.name);
    }
    text.push('\n');
    text
}

/// What the template shows.
#[derive(Serialize)]
struct Page<'a> {
    title: &'a str,
    episodes: u64,
    infrastructure: u64,
    success: Vec<Table>,
    names: [&'static str; 9],
    overall: Vec<Summary>,
    dots: Vec<Dots>,
    times: Vec<Times>,
    causes: Vec<Cause>,
    comparisons: &'a [Comparison],
    runs: Vec<Shown>,
}

#[derive(Serialize)]
struct Table {
    title: &'static str,
    by: &'static str,
    rows: Vec<Summary>,
}

/// Success by suite, by perturbation where there are any, and over all.
fn tables(trials: &[Trial]) -> Vec<Table> {
    let mut by_suite = summarize(trials, Grouping::Suite);
    by_suite.sort_by(|a, b| (&a.group, &a.system).cmp(&(&b.group, &b.system)));
    let mut by_dimension = summarize(trials, Grouping::Dimension);
    by_dimension.sort_by(|a, b| (&a.group, &a.system).cmp(&(&b.group, &b.system)));
    let perturbed = by_dimension.iter().any(|summary| summary.group != "base");
    let mut tables = vec![
        Table { title: "Success", by: "group", rows: summarize(trials, Grouping::All) },
        Table { title: "Success by suite", by: "suite", rows: by_suite },
    ];
    if perturbed {
        tables.push(Table {
            title: "Success by perturbation",
            by: "perturbation",
            rows: by_dimension,
        });
    }
    tables
}

#[derive(Serialize)]
struct Cause {
    system: String,
    cause: String,
    count: u64,
}

/// A strip of dots a system.
#[derive(Serialize)]
struct Dots {
    title: &'static str,
    height: f64,
    ticks: Vec<Tick>,
    rows: Vec<DotRow>,
}

#[derive(Serialize)]
struct Tick {
    x: f64,
    text: String,
}

#[derive(Serialize)]
struct DotRow {
    name: String,
    y: f64,
    median: f64,
    dots: Vec<Dot>,
}

#[derive(Serialize)]
struct Dot {
    x: f64,
    y: f64,
    title: String,
}

impl Dots {
    /// `None` when no solved episode has the number.
    fn new(
        title: &'static str,
        trials: &[Trial],
        of: impl Fn(&Numbers) -> Option<f64>,
    ) -> Option<Self> {
        let mut rows: BTreeMap<&str, Vec<(f64, String)>> = BTreeMap::new();
        for trial in trials.iter().filter(|trial| trial.solved()) {
            if let Some(value) = of(&trial.numbers) {
                let what = format!("{}: {}", trial.key, short(value));
                rows.entry(&trial.system).or_default().push((value, what));
            }
        }
        let largest = rows.values().flatten().map(|dot| dot.0).fold(0.0, f64::max);
        if largest <= 0.0 {
            return None;
        }
        let unit = tick_unit(largest);
        let end = (largest / unit).ceil() * unit;
        let x = |value: f64| LEFT + (RIGHT - LEFT) * value / end;
        let ticks = (0..=(end / unit).round() as u32)
            .map(|i| f64::from(i) * unit)
            .map(|value| Tick { x: x(value), text: short(value) })
            .collect();
        let rows: Vec<DotRow> = rows
            .into_iter()
            .enumerate()
            .map(|(i, (name, values))| {
                let y = ROW * (i as f64 + 0.5);
                let numbers: Vec<f64> = values.iter().map(|value| value.0).collect();
                let dots = values.into_iter().enumerate().map(|(j, (value, title))| Dot {
                    x: x(value),
                    // Equal values lie beside each other.
                    y: y + ((j * 5) % 15) as f64 - 7.0,
                    title,
                });
                let median = x(median(&numbers).unwrap_or_default());
                DotRow { name: name.to_owned(), y, median, dots: dots.collect() }
            })
            .collect();
        Some(Dots { title, height: ROW * rows.len() as f64 + 22.0, ticks, rows })
    }
}

/// A round number of which 4 to 10 reach `largest`.
fn tick_unit(largest: f64) -> f64 {
    let power = 10f64.powf((largest / 4.0).log10().floor());
    let fits = [5.0, 2.5, 2.0, 1.0].into_iter().find(|step| largest / (step * power) >= 4.0);
    fits.unwrap_or(1.0) * power
}

#[derive(Serialize)]
struct Times {
    name: String,
    seconds: f64,
    shares: [f64; 4],
}

/// Mean seconds of an episode by what they went into.
fn times(trials: &[Trial]) -> Vec<Times> {
    let mut sums: BTreeMap<&str, (f64, [f64; 4])> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.counts()) {
        let Some(spent) = trial.spent else { continue };
        let (episodes, sum) = sums.entry(&trial.system).or_default();
        *episodes += 1.0;
        for (sum, part) in sum.iter_mut().zip(spent.all()) {
            *sum += part;
        }
    }
    sums.into_iter()
        .filter(|(_, (_, sum))| sum.iter().sum::<f64>() > 0.0)
        .map(|(system, (episodes, sum))| {
            let all: f64 = sum.iter().sum();
            let shares = sum.map(|part| part / all);
            Times { name: system.to_owned(), seconds: all / episodes, shares }
        })
        .collect()
}

#[derive(Serialize)]
struct Shown {
    solved: bool,
    cause: String,
    key: String,
    system: String,
    steps: Option<f64>,
    first: Option<String>,
    last: Option<String>,
}

/// Failures first: they are what one looks for.
fn shown(trials: &[Trial]) -> Vec<Shown> {
    let mut order: Vec<&Trial> =
        trials.iter().filter(|trial| trial.outcome != Outcome::Infrastructure).collect();
    order.sort_by_key(|trial| trial.solved());
    order
        .into_iter()
        .filter_map(|trial| Some((trial, thumbnails(trial)?)))
        .take(SHOWN)
        .map(|(trial, (first, last))| Shown {
            solved: trial.solved(),
            cause: trial.cause.clone(),
            key: trial.key.to_string(),
            system: trial.system.clone(),
            steps: trial.numbers.steps,
            first: Some(first),
            last,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::trial::tests::trial;

    fn side(name: &str) -> Vec<Trial> {
        vec![trial(name, 0, Outcome::Solved), trial(name, 1, Outcome::Failed)]
    }

    #[test]
    fn a_page_holds_all_and_escapes_names() {
        let (left, right) = (side("a"), side("<b>"));
        let comparison = compare(("a", &left), ("<b>", &right), false).unwrap();
        let trials = [left, right].concat();
        let page = html("Two & two", &trials, std::slice::from_ref(&comparison)).unwrap();
        assert!(page.contains("Two &amp; two") && page.contains("&lt;b&gt;"));
        assert!(!page.contains("<b>"), "a name became markup");
        assert!(
            page.contains("libero_spatial") && page.contains("50.0 %") && page.contains("<circle")
        );
        let text = markdown(&trials, &[comparison]);
        assert!(text.contains("| libero_spatial | a | 1 / 2 | 50.0 % |"), "{text}");
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(tick_unit(100.0), 25.0);
        assert_eq!(tick_unit(87.0), 20.0);
        assert_eq!(tick_unit(4.0), 1.0);
    }
}
