fn main() -> std::process::ExitCode {
    ruaflow_kit::main("perception", env!("CARGO_PKG_VERSION"), perception::run)
}
