fn main() -> std::process::ExitCode {
    ruaflow_kit::main("replay", env!("CARGO_PKG_VERSION"), replay::run)
}
