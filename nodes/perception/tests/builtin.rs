//! The nets that come with RuaFlow, and what is none of them.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use perception::builtin::{Builtin, FILES};
use perception::{Asked, Eyes, EyesError, Picture, Sight};

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/perception")
}

fn sight(width: u32, height: u32) -> Sight {
    let rgb = (0..3 * width * height).map(|at| (at * 31 % 97) as u8).collect();
    Sight { picture: Picture { width, height, rgb }, labels: None }
}

/// The nets in a folder of their own, with one file changed.
fn with(name: &str, bytes: &[u8]) -> Result<Builtin, EyesError> {
    let folder = tempfile::tempdir().unwrap();
    for file in FILES {
        std::fs::copy(models().join(file), folder.path().join(file)).unwrap();
    }
    std::fs::write(folder.path().join(name), bytes).unwrap();
    Builtin::open(folder.path())
}

#[test]
fn any_picture_and_any_phrase_have_an_answer() {
    let mut eyes = Builtin::open(&models()).unwrap();
    for (width, height) in [(512, 512), (64, 48), (1, 1)] {
        let seen = eyes.look(&sight(width, height)).unwrap();
        let long = "bowl ".repeat(1000);
        for phrase in ["black bowl", "", "голубая чашка", "🍵\u{0}\u{202e}", long.as_str()]
        {
            for found in eyes.ask(&seen, Asked::Phrase(phrase)).unwrap() {
                assert_eq!(found.mask.len(), (width * height) as usize);
                assert!((0.0..=1.0).contains(&found.score));
            }
        }
        let point = Asked::Point { row: height - 1, col: width - 1 };
        assert!(eyes.ask(&seen, point).unwrap().len() <= 1);
    }
}

#[test]
fn a_picture_whose_size_is_wrong_is_refused_and_the_eyes_go_on() {
    let mut eyes = Builtin::open(&models()).unwrap();
    let mut wrong = sight(8, 8);
    wrong.picture.rgb.pop();
    assert!(matches!(eyes.look(&wrong), Err(EyesError::Picture(_))));
    assert!(eyes.look(&sight(8, 8)).is_ok());
}

#[test]
fn files_that_are_no_nets_of_ours_are_told_of() {
    let said = |name: &str, bytes: &[u8]| match with(name, bytes) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    assert!(said("picture.onnx", b"not a model").contains("picture.onnx"));
    let other = std::fs::read(models().join("phrase.onnx")).unwrap();
    assert!(said("picture.onnx", &other).contains("no input \"image\""));
    assert!(said("names.tsv", &[0xff, 0xfe]).contains("names.tsv"));
    let none = tempfile::tempdir().unwrap();
    assert!(Builtin::open(none.path()).is_err());
}
