//! The SAM3 backend with small models of the exporter's signature, written by
//! `tests/sam3/generate.py`: they know red, green and blue.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use perception::sam3::{Sam3, import};
use perception::{Asked, Eyes as _, EyesError, Picture, Sight};

const IMAGE: &str = "sam3_image_encoder.onnx";
const LANGUAGE: &str = "sam3_language_encoder.onnx";
const DECODER: &str = "sam3_decoder.onnx";

fn models(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sam3").join(folder)
}

/// A copy that a test may damage.
fn copy() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    for file in fs::read_dir(models("export")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
    }
    let path = dir.path().to_owned();
    (dir, path)
}

/// A red thing in either half and a green one in the left, 112 x 84 pixels.
fn sight() -> Sight {
    let (width, height) = (112_u32, 84_u32);
    let mut rgb = Vec::new();
    for row in 0..height {
        for col in 0..width {
            let inside = |rows: [u32; 2], cols: [u32; 2]| {
                (rows[0]..rows[1]).contains(&row) && (cols[0]..cols[1]).contains(&col)
            };
            let red = inside([12, 36], [8, 40]) || inside([40, 60], [80, 100]);
            let green = inside([52, 72], [12, 32]);
            rgb.extend([u8::from(red) * 255, u8::from(green) * 255, 0]);
        }
    }
    Sight { picture: Picture { width, height, rgb }, labels: None }
}

fn area(mask: &[u8]) -> usize {
    mask.iter().filter(|inside| **inside == 1).count()
}

fn at(mask: &[u8], row: usize, col: usize) -> u8 {
    mask[row * 112 + col]
}

#[test]
fn a_phrase_finds_its_things_once_each() {
    for folder in ["export", "older"] {
        let mut sam = Sam3::open(&models(folder)).unwrap();
        let features = sam.look(&sight()).unwrap();
        let found = sam.ask(&features, Asked::Phrase("red box")).unwrap();
        assert_eq!(found.len(), 2, "{folder}: the third mask repeats the first");
        let (left, right) = (&found[0], &found[1]);
        assert_eq!(left.label, "red box");
        assert_eq!((at(&left.mask, 24, 24), at(&left.mask, 50, 90)), (1, 0), "{folder}");
        assert_eq!((at(&right.mask, 24, 24), at(&right.mask, 50, 90)), (0, 1), "{folder}");
        // 24 x 32 and 20 x 20 pixels, give or take an edge of the models' coarse grid.
        assert!((600..=960).contains(&area(&left.mask)), "{folder}: {}", area(&left.mask));
        assert!((240..=560).contains(&area(&right.mask)), "{folder}: {}", area(&right.mask));
        // Logits of 4 and 3.5, present by 4: sigmoid times sigmoid.
        assert!((left.score - 0.9643).abs() < 0.01, "{folder}: {}", left.score);
        assert!((right.score - 0.9531).abs() < 0.02, "{folder}: {}", right.score);

        let green = sam.ask(&features, Asked::Phrase("green")).unwrap();
        assert_eq!(at(&green[0].mask, 62, 22), 1, "{folder}");
        let blue = sam.ask(&features, Asked::Phrase("blue")).unwrap();
        assert!(blue.iter().all(|thing| thing.score < 0.2), "{folder}: {blue:?}");
        let unknown = sam.ask(&features, Asked::Phrase("unicorn")).unwrap();
        assert!(unknown.iter().all(|thing| thing.score < 0.1), "{folder}: {unknown:?}");
    }
}

#[test]
fn a_pixel_finds_the_thing_under_it() {
    for folder in ["export", "older"] {
        let mut sam = Sam3::open(&models(folder)).unwrap();
        let features = sam.look(&sight()).unwrap();
        for (row, col) in [(24, 24), (50, 90)] {
            let found = sam.ask(&features, Asked::Point { row, col }).unwrap();
            let thing = &found[0];
            assert_eq!(at(&thing.mask, row as usize, col as usize), 1, "{folder}");
            assert!(thing.score > 0.5 && thing.label.is_empty(), "{folder}: {}", thing.score);
        }
        let nothing = sam.ask(&features, Asked::Point { row: 2, col: 60 }).unwrap();
        assert!(nothing.is_empty(), "{folder}");
    }
}

#[test]
fn a_prompt_that_is_too_long_is_an_error_and_no_end() {
    let mut sam = Sam3::open(&models("export")).unwrap();
    let features = sam.look(&sight()).unwrap();
    let long = "very ".repeat(40);
    let error = sam.ask(&features, Asked::Phrase(&long)).unwrap_err();
    assert!(matches!(error, EyesError::Prompt { found: 42, most: 32 }), "{error}");
    for phrase in ["", "<|endoftext|>", "赤い", "\u{0}", "a\u{301}"] {
        assert!(sam.ask(&features, Asked::Phrase(phrase)).is_ok(), "{phrase:?}");
    }
    assert_eq!(sam.ask(&features, Asked::Phrase("red")).unwrap().len(), 2);
}

#[test]
fn files_that_are_missing_or_broken_are_named() {
    let error =
        |dir: &Path| Sam3::open(dir).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error(Path::new("/nowhere")).contains("/nowhere/sam3_image_encoder.onnx"));

    let (_dir, dir) = copy();
    fs::remove_file(dir.join("sam3_decoder.onnx.data")).unwrap();
    let missing = error(&dir);
    assert!(
        missing.contains("\"sam3_decoder.onnx.data\", which is missing beside it"),
        "{missing}"
    );

    // As long as the name it replaces, so that only the name is wrong.
    let (_dir, dir) = copy();
    let text = fs::read(dir.join(DECODER)).unwrap();
    let name = b"sam3_decoder.onnx.data";
    let evil = b"../../../../etc/passwd";
    let mut evil_text = text.clone();
    for start in 0..text.len() - name.len() {
        if text[start..].starts_with(name) {
            evil_text[start..start + name.len()].copy_from_slice(evil);
        }
    }
    fs::write(dir.join(DECODER), evil_text).unwrap();
    let outside = error(&dir);
    assert!(outside.contains("which is not a file beside it"), "{outside}");

    let (_dir, dir) = copy();
    for (bytes, why) in [
        (text[..text.len() / 2].to_vec(), "damaged or no ONNX file"),
        (b"not a model".to_vec(), "sam3_decoder.onnx"),
        (Vec::new(), "sam3_decoder.onnx"),
    ] {
        fs::write(dir.join(DECODER), bytes).unwrap();
        let broken = error(&dir);
        assert!(broken.contains(why), "{broken}");
    }
}

#[test]
fn models_with_other_inputs_are_told_apart() {
    for (from, to, expected) in [
        (LANGUAGE, DECODER, "no input \"box_coords\""),
        (DECODER, LANGUAGE, "no input \"tokens\""),
        (LANGUAGE, IMAGE, "input \"tokens\""),
        (DECODER, IMAGE, "takes 14 inputs"),
    ] {
        let (_dir, dir) = copy();
        fs::copy(models("export").join(from), dir.join(to)).unwrap();
        let error = Sam3::open(&dir).err().unwrap().to_string();
        assert!(error.contains(expected) && error.contains(to), "{error}");
    }
}

#[test]
fn what_a_user_brings_is_checked_and_taken() {
    let home = tempfile::tempdir().unwrap();
    let into = home.path().join("models/sam3");
    fs::create_dir_all(&into).unwrap();
    fs::write(into.join("left_over.onnx"), "old").unwrap();
    let taken = import(&models("export"), &into).unwrap();
    let names: Vec<&str> = taken.files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, [DECODER, "sam3_decoder.onnx.data", IMAGE, LANGUAGE]);
    assert!(taken.files.iter().all(|(_, size)| *size > 0));
    assert!(!into.join("left_over.onnx").exists());
    assert!(Sam3::open(&into).is_ok());
    // Taken again from where it lies.
    assert!(import(&into, &into).is_ok() && Sam3::open(&into).is_ok());

    let (_dir, dir) = copy();
    fs::write(dir.join(IMAGE), "no").unwrap();
    assert!(import(&dir, &into).is_err());
    assert!(Sam3::open(&into).is_ok(), "what was there stays");
}
