//! What cells reach beside the robot: files, modules, pictures.
#![allow(clippy::unwrap_used)]

mod common;

use common::bench::Bench;
use image_codec::decode;

#[test]
fn files_live_in_the_workspace() {
    let mut bench = Bench::new();
    let code = "
with open('notes.txt', 'w') as file:
    file.write('one\\n')
    print('two', file=file)
open('notes.txt', 'a').write('three\\n')
print(open('notes.txt').read(), end='')
print([line.strip() for line in open('notes.txt')])
with open('raw.bin', 'wb') as file:
    print(file.write(bytes(range(256))), file.tell())
with open('raw.bin', 'r+b') as file:
    file.seek(2)
    file.write(b'XY')
data = open('raw.bin', 'rb').read()
print(len(data), data[:6])
";
    assert_eq!(
        bench.printed(code),
        "one\ntwo\nthree\n['one', 'two', 'three']\n256 256\n256 b'\\x00\\x01XY\\x04\\x05'\n"
    );
    let path = bench.workspace().join("notes.txt");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "one\ntwo\nthree\n");
}

#[test]
fn what_was_not_closed_is_written_at_the_end_of_the_cell() {
    let mut bench = Bench::new();
    bench.printed("log_file = open('log.txt', 'w')\nlog_file.write('a')");
    let path = bench.workspace().join("log.txt");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "a");
    bench.printed("log_file.write('b'); print(open('log.txt').read())");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "ab");
    let result = bench.cell("log_file.write('c')\nfinish('success', 'done')");
    assert_eq!(result.status, "finished");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "abc");
}

#[test]
fn files_fail_as_pythons_do() {
    let mut bench = Bench::new();
    for (code, error) in [
        ("open('none.txt')", "FileNotFoundError: [Errno 2] No such file or directory: 'none.txt'"),
        (
            "open('a/b.txt', 'w')",
            "FileNotFoundError: [Errno 2] No such file or directory: 'a/b.txt'",
        ),
        ("open('guides')", "IsADirectoryError: [Errno 21] Is a directory: 'guides'"),
        ("open('x', 'rw')", "ValueError: invalid mode: 'rw'"),
        ("open('x', 'w').read()", "UnsupportedOperation: not readable"),
        ("open(0)", "PermissionError: a cell opens files of the workspace by their names"),
    ] {
        if code.contains("guides") {
            std::fs::create_dir_all(bench.workspace().join("guides")).unwrap();
        }
        let last = bench.error(code);
        assert!(last.ends_with(error), "{code}: {last}");
    }
}

#[test]
fn no_file_outside_is_reached() {
    let mut bench = Bench::new();
    std::os::unix::fs::symlink("/etc/passwd", bench.workspace().join("link")).unwrap();
    for path in ["/etc/passwd", "../x", "~/.ssh/id_rsa", "link", "a/../../x"] {
        for mode in ["r", "w", "a", "rb"] {
            let last = bench.error(&format!("open({path:?}, {mode:?})"));
            assert!(last.starts_with("PermissionError"), "{path} {mode}: {last}");
        }
    }
    assert_eq!(
        bench.printed("import os\nprint(os.path.exists('/etc/passwd'), os.path.exists('link'))"),
        "False False\n"
    );
}

#[test]
fn os_and_pathlib_answer_from_the_workspace() {
    let mut bench = Bench::new();
    let code = "
import os, pathlib
os.makedirs('maps/low', exist_ok=True)
path = pathlib.Path('maps') / 'low' / 'a.txt'
path.write_text('hello')
print(path.read_text(), path.exists(), os.path.getsize(path), path.suffix)
print(os.listdir('maps'), os.path.isdir('maps'), os.path.isfile('maps/low/a.txt'))
print(list(os.walk('maps'))[1], [str(p) for p in pathlib.Path('maps').rglob('*.txt')])
os.remove('maps/low/a.txt')
print(path.exists(), os.getcwd())
";
    assert_eq!(
        bench.printed(code),
        "hello True 5 .txt\n['low'] True True\n('maps/low', [], ['a.txt']) ['maps/low/a.txt']\nFalse .\n"
    );
}

#[test]
fn guides_lie_in_the_workspace() {
    let mut bench = Bench::with_robot("libero");
    let code = "
import os
for name in os.listdir('guides'):
    text = open('guides/' + name).read()
    print(name, text.startswith('# '), len(text) > 500)
";
    assert_eq!(
        bench.printed(code),
        "env_calibration.md True True\npro_hybrid_guide.md True True\nstrict_hybrid_guide.md True True\n"
    );
    assert!(bench.error("open('guides/env_calibration.md', 'w')").contains("only for reading"));
}

#[test]
fn python_files_of_the_workspace_are_modules() {
    let mut bench = Bench::new();
    let write = "
import os
with open('helpers.py', 'w') as file:
    file.write('import math\\ndef area(r):\\n    return math.pi * r ** 2\\n')
os.mkdir('kit')
open('kit/__init__.py', 'w').write('from .shapes import side')
open('kit/shapes.py', 'w').write('side = 3')
";
    bench.printed(write);
    assert_eq!(
        bench.printed("import helpers, kit.shapes\nprint(round(helpers.area(1), 2), kit.side)"),
        "3.14 3\n"
    );
    // A file that was written anew is loaded anew.
    let again = "
open('helpers.py', 'w').write('def area(r):\\n    raise ValueError(r)\\n')
import helpers
helpers.area(7)
";
    let result = bench.cell(again);
    assert!(result.error.contains("File \"helpers.py\", line 2, in area"), "{}", result.error);
    assert!(result.error.contains("raise ValueError(r)"), "{}", result.error);
    // It imports what a cell can import.
    bench.printed("open('sneaky.py', 'w').write('import subprocess')");
    assert!(bench.error("import sneaky").contains("a cell is one process"));
    assert!(bench.error("import nothing_here").contains("no nothing_here.py in the workspace"));
    bench
        .printed("open('signal.py', 'w').write('x = 1')\nopen('traceback.py', 'w').write('x = 2')");
    assert_eq!(bench.printed("import traceback\nprint(hasattr(traceback, 'x'))"), "False\n");
}

#[test]
fn every_module_on_the_list_can_be_imported() {
    let mut bench = Bench::new();
    for module in cell_runner::modules::AVAILABLE {
        let result = bench.cell(&format!("import {module}"));
        assert_eq!(result.error, "", "{module}");
    }
}

#[test]
fn a_module_that_is_not_there_says_what_to_use() {
    let mut bench = Bench::new();
    for (code, word) in [
        ("import cv2", "PIL.Image"),
        ("import scipy.spatial", "np.linalg"),
        ("from skimage import measure", "PIL.Image"),
        ("import matplotlib.pyplot as plt", "display(array_or_image)"),
        ("import torch", "numpy"),
        ("import requests", "no network"),
        ("import threading", "one thread"),
    ] {
        let last = bench.error(code);
        assert!(last.starts_with("ModuleNotFoundError") && last.contains(word), "{code}: {last}");
    }
}

#[test]
fn a_cell_without_a_robot_says_so() {
    let mut bench = Bench::new();
    assert!(bench.error("robo.move_to((0, 0, 1))").contains("there is no robot in this run"));
}

#[test]
fn arrays_and_images_are_displayed() {
    let mut bench = Bench::new();
    let code = "
import numpy as np
from PIL import Image
red = np.zeros((20, 30, 3), dtype=np.uint8)
red[:, :, 0] = 200
display(red)
display(Image.fromarray(red).resize((60, 40)), 'larger')
display(red[:, :, 0] > 100)
display(np.linspace(0, 1, 6).reshape(2, 3))
display(np.array([[1.0, 1.5], [2.0, np.nan]]), caption='heights')
";
    let result = bench.cell(code);
    assert_eq!(result.error, "");
    let names: Vec<&str> = result.images.iter().map(|image| image.name.as_str()).collect();
    assert_eq!(names, ["display 1", "larger", "display 3", "display 4", "heights"]);
    let first = decode(&result.images[0].png.0).unwrap();
    assert_eq!((first.width, first.height), (30, 20));
    assert_eq!(first.pixels[..6], [200, 0, 0, 200, 0, 0]);
    assert_eq!((result.images[1].width, result.images[1].height), (60, 40));
    let heights = decode(&result.images[4].png.0).unwrap();
    assert_eq!(heights.pixels.iter().step_by(3).copied().collect::<Vec<_>>(), [0, 128, 255, 0]);
    assert!(
        result.feedback.contains("[pictures: display 1, larger, display 3, display 4, heights]")
    );
}

#[test]
fn pictures_that_cannot_be_shown_say_why() {
    let mut bench = Bench::new();
    bench.printed("import numpy as np");
    for (code, word) in [
        ("display(np.zeros((2, 3, 5)))", "got shape (2, 3, 5)"),
        ("display(np.full((2, 2, 3), 300))", "got 300 to 300"),
        ("display(b'GIF89a')", "neither PNG nor JPEG"),
        ("display(np.zeros((3000, 10), dtype=np.uint8))", "2048 a side at most"),
    ] {
        let last = bench.error(code);
        assert!(last.contains(word), "{code}: {last}");
    }
    let many = bench.cell("for i in range(20): display(np.zeros((2, 2), dtype=np.uint8))");
    assert_eq!((many.status.as_str(), many.images.len()), ("ok", 16));
    assert!(many.feedback.contains("16 pictures at most"), "{}", many.feedback);
}

/// The cell's own PIL against hashes that Pillow made.
#[test]
fn pil_gives_the_results_of_pillow() {
    let mut bench = Bench::new();
    bench.printed(include_str!("pillow/images.py").split("# %%").next().unwrap());
    for line in include_str!("pillow/images.txt").lines().filter(|line| !line.starts_with('#')) {
        let (hash, code) = line.split_once(' ').unwrap();
        assert_eq!(bench.printed(&format!("print(told({code}))")).trim(), hash, "{code}");
    }
}

#[test]
fn a_turn_is_told_and_audited() {
    let mut bench = Bench::with_robot("libero");
    let result = bench.cell("print('hi')\ngetattr(robo, 'task')\n6 * 7");
    assert_eq!(result.audit, ["probe:getattr"]);
    assert!(result.feedback.starts_with("cell 1: ok, "), "{}", result.feedback);
    assert!(result.feedback.contains("\nhi\n[value]\n42\n"), "{}", result.feedback);
}
