use std::process::ExitCode;

use tracing_subscriber::EnvFilter;

/// Runs a node's process: `--version`, logging, and one line for an error.
///
/// Logs go to standard error, which dora keeps per node; `RUST_LOG` sets the
/// level, warnings by default.
pub fn main(name: &str, version: &str, run: impl FnOnce() -> eyre::Result<()>) -> ExitCode {
    if let Some(arg) = std::env::args().nth(1) {
        return match arg.as_str() {
            "--version" | "-V" => {
                println!("{name} {version}");
                ExitCode::SUCCESS
            }
            _ => {
                eprintln!(
                    "{name}: unknown argument {arg:?}; a node takes its settings from the environment, see its README"
                );
                ExitCode::from(2)
            }
        };
    }
    if std::env::var_os("DORA_NODE_CONFIG").is_none()
        && std::env::var_os("DORA_TEST_WITH_INPUTS").is_none()
    {
        eprintln!(
            "{name} is a dora node and is started by a dataflow: try `./rua play` or `dora run dataflows/libero.yml`"
        );
        return ExitCode::from(2);
    }
    let mut filter = EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| EnvFilter::new("warn,zenoh=error,dora_node_api=error"));
    // At `trace` it prints the request that opens a connection, key and all.
    if let Ok(quiet) = "tungstenite::handshake::client=debug".parse() {
        filter = filter.add_directive(quiet);
    }
    // A node may be embedded in a test that has set a subscriber already.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .try_init();
    match tracing::info_span!("node", name).in_scope(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
            eprintln!("{name}: {}", causes.join(": "));
            ExitCode::FAILURE
        }
    }
}
