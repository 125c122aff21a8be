fn main() -> std::process::ExitCode {
    ruaflow_kit::main("planner", env!("CARGO_PKG_VERSION"), planner::run)
}
