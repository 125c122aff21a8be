//! How often the builtin segmenter is right, on pictures that it was not trained on.
//!
//! `cargo run --release -p perception --example accuracy -- PICTURES MODELS`
//!
//! `PICTURES` is a folder that `perception_data held-out` of the crate `libero` wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use eyre::{Result, WrapErr, eyre};
use perception::builtin::Builtin;
use perception::{Asked, Eyes, Picture, Sight};
use serde::Deserialize;

/// Fewer pixels of a thing, at 256 x 256, are not asked for.
const LEAST_PIXELS: usize = 30;
/// Absent things asked for in each picture: some of the net's own, and some of nobody's.
const ABSENT: usize = 8;
const STRANGERS: [&str; 12] = [
    "giraffe",
    "toaster",
    "purple umbrella",
    "soccer ball",
    "banana",
    "laptop",
    "green dinosaur",
    "screwdriver",
    "pair of scissors",
    "sunglasses",
    "piano",
    "teddy bear",
];

/// A phrase and what it may mean, from the net's list of names.
struct Name {
    phrase: String,
    yes: BTreeSet<String>,
    either: BTreeSet<String>,
}

#[derive(Deserialize)]
struct About {
    side: usize,
    label_side: usize,
    pictures: Vec<Facts>,
}

#[derive(Deserialize)]
struct Facts {
    camera: String,
    fovy_degrees: f64,
    things: Vec<Thing>,
}

#[derive(Deserialize)]
struct Thing {
    category: String,
}

#[derive(Default, Clone)]
struct Tally {
    asked: usize,
    found: usize,
    wrong: usize,
    overlaps: Vec<f64>,
    errors: Vec<f64>,
}

#[derive(Default)]
struct Report {
    /// By view and category.
    there: BTreeMap<(String, String), Tally>,
    absent: Tally,
    strange: Tally,
    look: Vec<f64>,
    ask: Vec<f64>,
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut folder = || arguments.next().map(PathBuf::from).ok_or_else(|| eyre!("two folders"));
    let (pictures, models) = (folder()?, folder()?);
    let names = read_names(&models.join("names.tsv"))?;
    let mut shards: Vec<PathBuf> = std::fs::read_dir(&pictures)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    shards.sort();
    let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2));
    let mut report = Report::default();
    let (shards, models, names) = (&shards, &models, &names);
    std::thread::scope(|scope| -> Result<()> {
        let shares = (0..workers).map(|worker| {
            let own = shards.iter().skip(worker).step_by(workers);
            scope.spawn(move || -> Result<Report> {
                let mut eyes = Builtin::open(models)?;
                let mut report = Report::default();
                for shard in own {
                    judge(&mut eyes, names, shard, &mut report)?;
                }
                Ok(report)
            })
        });
        for share in shares.collect::<Vec<_>>() {
            report.add(share.join().map_err(|_| eyre!("a worker panicked"))??);
        }
        Ok(())
    })?;
    report.print();
    Ok(())
}

fn read_names(path: &Path) -> Result<Vec<Name>> {
    let text = std::fs::read_to_string(path).wrap_err_with(|| format!("{}", path.display()))?;
    let set = |column: Option<&str>| -> BTreeSet<String> {
        column.unwrap_or_default().split(',').filter(|x| !x.is_empty()).map(str::to_owned).collect()
    };
    let name = |line: &str| {
        let mut columns = line.split('\t');
        let phrase = columns.next().unwrap_or_default().to_owned();
        Name { phrase, yes: set(columns.next()), either: set(columns.next()) }
    };
    Ok(text.lines().map(name).collect())
}

fn judge(eyes: &mut Builtin, names: &[Name], shard: &Path, report: &mut Report) -> Result<()> {
    let about: About = serde_json::from_str(&std::fs::read_to_string(shard)?)?;
    let read = |extension| std::fs::read(shard.with_extension(extension));
    let (color, label, depth) = (read("rgb")?, read("label")?, read("depth")?);
    let (pixels, cells) = (about.side * about.side, about.label_side * about.label_side);
    for (number, facts) in about.pictures.iter().enumerate() {
        let side = about.side as u32;
        let rgb = color[3 * pixels * number..][..3 * pixels].to_vec();
        let sight = Sight { picture: Picture { width: side, height: side, rgb }, labels: None };
        let truth = Truth {
            facts,
            side: about.label_side,
            label: &label[2 * cells * number..][..2 * cells],
            depth: depth[4 * cells * number..][..4 * cells]
                .chunks_exact(4)
                .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
                .collect(),
        };
        let start = Instant::now();
        let features = eyes.look(&sight)?;
        report.look.push(start.elapsed().as_secs_f64());
        let mut ask = |phrase: &str, times: &mut Vec<f64>| -> Result<Option<Vec<usize>>> {
            let start = Instant::now();
            let found = eyes.ask(&features, Asked::Phrase(phrase))?;
            times.push(start.elapsed().as_secs_f64());
            Ok(found.first().map(|best| truth.cells(&best.mask, about.side)))
        };
        let view = if facts.camera.contains("eye_in_hand") { "wrist" } else { "scene" };
        let present: BTreeSet<&str> = (2..facts.things.len() + 2)
            .filter(|&thing| truth.count(thing) > 0)
            .map(|thing| facts.things[thing - 2].category.as_str())
            .collect();
        for name in names {
            let things = truth.things(&name.yes);
            let Some(category) = things
                .iter()
                .find(|&&thing| truth.count(thing) >= LEAST_PIXELS)
                .map(|&thing| facts.things[thing - 2].category.clone())
            else {
                continue;
            };
            let answer = ask(&name.phrase, &mut report.ask)?;
            let either = truth.things(&name.either);
            let tally = report.there.entry((view.to_owned(), category)).or_default();
            tally.asked += 1;
            if let Some(cells) = answer {
                truth.compare(&cells, &things, &either, tally);
            }
        }
        let may_be = |name: &&Name| {
            let mut meant = name.yes.iter().chain(&name.either);
            !meant.any(|category| present.contains(category.as_str()))
        };
        let absent: Vec<&Name> = names.iter().filter(may_be).collect();
        for index in 0..ABSENT.min(absent.len()) {
            let name = absent[(index * 7 + number * 3) % absent.len()];
            report.absent.asked += 1;
            report.absent.found += usize::from(ask(&name.phrase, &mut report.ask)?.is_some());
        }
        for index in 0..2 {
            let stranger = STRANGERS[(index * 5 + number) % STRANGERS.len()];
            report.strange.asked += 1;
            report.strange.found += usize::from(ask(stranger, &mut report.ask)?.is_some());
        }
    }
    Ok(())
}

/// What a picture shows.
struct Truth<'a> {
    facts: &'a Facts,
    side: usize,
    /// What and which thing, by cell.
    label: &'a [u8],
    depth: Vec<f32>,
}

impl Truth<'_> {
    fn thing(&self, cell: usize) -> usize {
        usize::from(self.label[2 * cell + 1])
    }

    fn count(&self, thing: usize) -> usize {
        (0..self.depth.len()).filter(|&cell| self.thing(cell) == thing).count()
    }

    /// The things of some categories.
    fn things(&self, categories: &BTreeSet<String>) -> BTreeSet<usize> {
        let things = self.facts.things.iter().enumerate();
        things
            .filter(|(_, thing)| categories.contains(&thing.category))
            .map(|(index, _)| index + 2)
            .collect()
    }

    /// The cells whose middle a mask covers.
    fn cells(&self, mask: &[u8], side: usize) -> Vec<usize> {
        let step = side / self.side;
        let covered = |cell: &usize| {
            let (row, col) = (cell / self.side, cell % self.side);
            mask[(row * step + step / 2) * side + col * step + step / 2] == 1
        };
        (0..self.depth.len()).filter(covered).collect()
    }

    fn compare(
        &self,
        cells: &[usize],
        right: &BTreeSet<usize>,
        either: &BTreeSet<usize>,
        tally: &mut Tally,
    ) {
        let mut counts = BTreeMap::new();
        for &cell in cells {
            *counts.entry(self.thing(cell)).or_insert(0_usize) += 1;
        }
        let Some((&thing, &common)) = counts.iter().max_by_key(|(_, count)| **count) else {
            return;
        };
        if !right.contains(&thing) {
            // What may be called so is no mistake, and not what was looked for either.
            match either.contains(&thing) {
                true => tally.asked -= 1,
                false => tally.wrong += 1,
            }
            return;
        }
        tally.found += 1;
        let whole: Vec<usize> =
            (0..self.depth.len()).filter(|&cell| self.thing(cell) == thing).collect();
        tally.overlaps.push(common as f64 / (cells.len() + whole.len() - common) as f64);
        let (seen, true_place) = (self.place(cells), self.place(&whole));
        let squares = seen.iter().zip(true_place).map(|(x, y)| (x - y).powi(2));
        tally.errors.push(squares.sum::<f64>().sqrt());
    }

    /// Median point of some cells, in the camera's frame, metres.
    fn place(&self, cells: &[usize]) -> [f64; 3] {
        let half = 0.5 * self.side as f64;
        let focal = half / (0.5 * self.facts.fovy_degrees.to_radians()).tan();
        let point = |&cell: &usize| {
            let depth = f64::from(self.depth[cell]);
            let right = (cell % self.side) as f64 + 0.5 - half;
            let down = (cell / self.side) as f64 + 0.5 - half;
            [right * depth / focal, down * depth / focal, depth]
        };
        let points: Vec<[f64; 3]> = cells.iter().map(point).collect();
        [0, 1, 2].map(|axis| quantile(points.iter().map(|point| point[axis]).collect(), 0.5))
    }
}

impl Report {
    fn add(&mut self, other: Self) {
        for (key, tally) in other.there {
            self.there.entry(key).or_default().add(tally);
        }
        self.absent.add(other.absent);
        self.strange.add(other.strange);
        self.look.extend(other.look);
        self.ask.extend(other.ask);
    }

    fn print(&self) {
        println!(
            "| view | category | asked | found % | wrong % | overlap | error, cm: median | 95 % |"
        );
        println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
        let mut totals: BTreeMap<&str, Tally> = BTreeMap::new();
        for ((view, category), tally) in &self.there {
            println!("| {view} | {category} | {}", tally.row());
            totals.entry(view).or_default().add(tally.clone());
        }
        for (view, tally) in totals {
            println!("| {view} | **all** | {}", tally.row());
        }
        for (what, tally) in [("known things", &self.absent), ("strange things", &self.strange)] {
            let right = 100.0 - percent(tally.found, tally.asked);
            println!("absent, {what}: {right:.2} % of {} answered \"not found\"", tally.asked);
        }
        for (what, times) in [("look", &self.look), ("ask", &self.ask)] {
            let at = |share| 1e3 * quantile(times.clone(), share);
            println!("{what}: {:.1} ms median, {:.1} ms 95 %", at(0.5), at(0.95));
        }
    }
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.asked += other.asked;
        self.found += other.found;
        self.wrong += other.wrong;
        self.overlaps.extend(other.overlaps);
        self.errors.extend(other.errors);
    }

    fn row(&self) -> String {
        let centimetres = |share| 100.0 * quantile(self.errors.clone(), share);
        format!(
            "{} | {:.1} | {:.1} | {:.2} | {:.2} | {:.2} |",
            self.asked,
            percent(self.found, self.asked),
            percent(self.wrong, self.asked),
            quantile(self.overlaps.clone(), 0.5),
            centimetres(0.5),
            centimetres(0.95),
        )
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// NaN for nothing.
fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1) as f64;
    values.get((share * last).round() as usize).copied().unwrap_or(f64::NAN)
}
