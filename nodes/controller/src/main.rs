fn main() -> std::process::ExitCode {
    ruaflow_kit::main("controller", env!("CARGO_PKG_VERSION"), controller::run)
}
