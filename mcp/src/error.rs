use std::io;

/// Why a service can't be offered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("port {port} of 127.0.0.1 can't be listened on")]
    Bind { port: u16, source: io::Error },
    #[error("the thread of the service can't be started")]
    Thread(#[source] io::Error),
    #[error("tool {name:?}: {reason}")]
    Tool { name: String, reason: &'static str },
}
