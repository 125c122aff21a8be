//! Writes `README.md` and the Python twin beside the crate.

use std::path::Path;

use ruaflow_schemas::reference;

fn main() -> std::io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::write(here.join("README.md"), reference::markdown())?;
    std::fs::create_dir_all(here.join("python"))?;
    std::fs::write(here.join("python/ruaflow_schemas.py"), reference::python())
}
