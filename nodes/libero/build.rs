//! Puts the folder of `libmujoco` into the run path of a crate's binaries: dora
//! starts nodes without `LD_LIBRARY_PATH`. `rua`, which renders, is built with it, too.

fn main() {
    println!("cargo::rerun-if-env-changed=MUJOCO_DYNAMIC_LINK_DIR");
    if let Ok(folder) = std::env::var("MUJOCO_DYNAMIC_LINK_DIR") {
        // Every linked target of the crate: binaries, tests and examples.
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
