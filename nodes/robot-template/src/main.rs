fn main() -> std::process::ExitCode {
    ruaflow_kit::main("robot-template", env!("CARGO_PKG_VERSION"), robot_template::run)
}
