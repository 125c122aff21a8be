//! Which modules a cell can import, and what to use in place of others.
//!
//! The interpreter's import and `rua lint` say the same, because both ask here.

use std::fmt::Write as _;

/// Modules that a cell can import; all of them only compute.
pub const AVAILABLE: &[&str] = &[
    "PIL",
    "__future__",
    "abc",
    "argparse",
    "array",
    "ast",
    "base64",
    "binascii",
    "bisect",
    "calendar",
    "cmath",
    "codecs",
    "collections",
    "colorsys",
    "configparser",
    "contextlib",
    "contextvars",
    "copy",
    "copyreg",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "errno",
    "fnmatch",
    "fractions",
    "functools",
    "graphlib",
    "hashlib",
    "heapq",
    "hmac",
    "html",
    "inspect",
    "io",
    "ipaddress",
    "itertools",
    "json",
    "keyword",
    "logging",
    "math",
    "numbers",
    "numpy",
    "operator",
    "os",
    "pathlib",
    "pprint",
    "queue",
    "random",
    "re",
    "reprlib",
    "robo",
    "sched",
    "secrets",
    "shlex",
    "statistics",
    "string",
    "struct",
    "sys",
    "textwrap",
    "time",
    "timeit",
    "tomllib",
    "traceback",
    "types",
    "typing",
    "unicodedata",
    "uuid",
    "warnings",
    "weakref",
    "zlib",
];

/// Whether a cell can import the module; a dotted name counts by its first part.
#[must_use]
pub fn is_available(module: &str) -> bool {
    AVAILABLE.binary_search(&root(module)).is_ok()
}

/// Why a module is not there and what does its work, when that is known.
#[must_use]
pub fn instead(module: &str) -> Option<&'static str> {
    INSTEAD
        .iter()
        .find(|(names, _)| names.split(' ').any(|name| name == root(module)))
        .map(|(_, advice)| *advice)
}

/// The text of the `ModuleNotFoundError` for a module that a cell can't import.
#[must_use]
pub fn refusal(module: &str) -> String {
    let mut text = format!("{module:?} is not available in a cell");
    // `write!` to a String cannot fail.
    let _ = match instead(module) {
        Some(advice) => write!(text, ": {advice}"),
        None => write!(
            text,
            ", and there is no {}.py in the workspace; available: {}",
            root(module),
            AVAILABLE.join(", ")
        ),
    };
    text
}

fn root(module: &str) -> &str {
    module.split('.').next().unwrap_or_default()
}

const NO_FILES: &str = "open(), pathlib and os.listdir() reach the files of the workspace";
const NO_NETWORK: &str = "a cell has no network";
const NO_PROCESSES: &str = "a cell is one process and starts no other";
const ONE_THREAD: &str = "a cell is one thread; calls on robo return when they are done";

/// Names in one text, and what to use.
const INSTEAD: &[(&str, &str)] = &[
    (
        "cv2 skimage imageio mahotas kornia",
        "use PIL.Image (open, resize, crop, rotate, convert to L or HSV), numpy for masks and channels, robo.segment() to find things, and display() to look",
    ),
    (
        "scipy sklearn statsmodels",
        "use numpy: np.linalg (svd, lstsq, eigh, norm), np.interp, np.polyfit, np.percentile, np.cov, np.histogram; a rotation is a 3 x 3 matrix from math.cos and math.sin",
    ),
    (
        "matplotlib pylab seaborn plotly",
        "use display(array_or_image) to look at a picture, PIL.ImageDraw to mark places in it, and print() for numbers",
    ),
    (
        "torch torchvision tensorflow keras jax transformers onnxruntime numba cupy",
        "use numpy; models run outside the cell, behind robo (segment, and the policies the reference lists)",
    ),
    ("pandas polars pyarrow", "use lists and dicts, csv, statistics, or numpy"),
    ("open3d trimesh pyvista", "use numpy on robo.world_map(): height x width x 3, metres"),
    (
        "transforms3d pyquaternion quaternion spatialmath",
        "use numpy; robo.state() has eef_yaw and eef_pitch, and quaternions are xyzw",
    ),
    ("sympy mpmath", "use fractions, decimal or numpy"),
    ("networkx", "use graphlib or heapq"),
    ("tqdm rich colorama tabulate", "use print()"),
    ("pickle shelve dbm sqlite3 marshal", "use json with open() in the workspace"),
    ("glob shutil tempfile fileinput filecmp zipfile tarfile gzip bz2 lzma mmap", NO_FILES),
    (
        "socket ssl http urllib requests httpx aiohttp websocket websockets ftplib smtplib socketserver xmlrpc grpc",
        NO_NETWORK,
    ),
    ("subprocess multiprocessing signal pty resource fcntl ctypes cffi", NO_PROCESSES),
    ("threading _thread asyncio concurrent select selectors trio anyio", ONE_THREAD),
    ("dora pyrualean pyrua rpent libero robosuite mujoco", "the robot is the object robo"),
    (
        "importlib pkgutil runpy code codeop gc imp builtins",
        "a cell has no use for the interpreter's own parts",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_so_that_it_can_be_searched() {
        assert!(AVAILABLE.is_sorted());
    }

    #[test]
    fn no_module_is_both_there_and_not() {
        for (names, advice) in INSTEAD {
            assert!(!advice.is_empty());
            for name in names.split(' ') {
                assert!(!is_available(name), "{name}");
            }
        }
    }

    #[test]
    fn a_refusal_says_what_to_use() {
        assert!(is_available("collections.abc"));
        assert!(refusal("cv2").contains("PIL.Image"));
        assert!(
            refusal("scipy.spatial")
                .starts_with("\"scipy.spatial\" is not available in a cell: use numpy")
        );
        let unknown = refusal("helpers");
        assert!(unknown.contains("no helpers.py in the workspace"), "{unknown}");
        assert!(unknown.contains("math, numbers"), "{unknown}");
    }
}
