//! Puts the folder of `libmujoco` into the run path of this crate's binaries:
//! dora starts nodes without `LD_LIBRARY_PATH`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=MUJOCO_DYNAMIC_LINK_DIR");
    let Ok(folder) = std::env::var("MUJOCO_DYNAMIC_LINK_DIR") else {
        return;
    };
    // Every linked target of this crate: binaries, tests and examples.
    println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
}
