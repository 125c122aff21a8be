fn main() -> std::process::ExitCode {
    ruaflow_kit::main("recorder", env!("CARGO_PKG_VERSION"), recorder::run)
}
