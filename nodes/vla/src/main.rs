fn main() -> std::process::ExitCode {
    ruaflow_kit::main("vla", env!("CARGO_PKG_VERSION"), vla::run)
}
