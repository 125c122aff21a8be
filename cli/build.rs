//! Puts the folder of `libmujoco` into the run path of `rua`, which renders.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=MUJOCO_DYNAMIC_LINK_DIR");
    let Ok(folder) = std::env::var("MUJOCO_DYNAMIC_LINK_DIR") else {
        return;
    };
    // Every linked target of this crate: binaries, tests and examples.
    println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
}
