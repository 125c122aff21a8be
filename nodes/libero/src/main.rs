fn main() -> std::process::ExitCode {
    ruaflow_kit::main("libero", env!("CARGO_PKG_VERSION"), libero::node::run)
}
