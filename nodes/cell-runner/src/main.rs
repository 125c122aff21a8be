fn main() -> std::process::ExitCode {
    cell_runner::main()
}
