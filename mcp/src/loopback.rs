//! A web service that only this machine can reach.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::{Router, middleware};
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use crate::gate::{Gate, pass};
use crate::{Error, Token};

/// What open connections get to end by themselves.
const GRACE: Duration = Duration::from_millis(500);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A web service on 127.0.0.1, on a thread of its own. Requests without its token,
/// or from a web page, are refused. It ends when it is dropped.
#[derive(Debug)]
pub struct Loopback {
    port: u16,
    token: Token,
    open: Arc<AtomicUsize>,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Loopback {
    /// Serves `router` on `port`, or on a free one for 0.
    ///
    /// # Errors
    /// When the port is taken, or there is no thread for it.
    pub fn serve(port: u16, token: Token, router: Router) -> Result<Self, Error> {
        Self::serve_until(port, token, router, CancellationToken::new())
    }

    /// As [`serve`](Self::serve); `stop` is cancelled when it is dropped.
    pub(crate) fn serve_until(
        port: u16,
        token: Token,
        router: Router,
        stop: CancellationToken,
    ) -> Result<Self, Error> {
        let listener = listen(port)?;
        let port = listener.local_addr().map_err(|source| Error::Bind { port, source })?.port();
        let open = Arc::<AtomicUsize>::default();
        let gate = Arc::new(Gate::new(token.clone(), port, open.clone()));
        let router = router.layer(middleware::from_fn_with_state(gate, pass));
        let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::Thread)?;
        let ended = stop.clone();
        let thread = std::thread::Builder::new().name("loopback".to_owned()).spawn(move || {
            if let Err(error) = runtime.block_on(run(listener, router, ended)) {
                tracing::error!(%error, port, "the service on loopback has ended");
            }
            // A call that still runs ends on its own thread; nobody waits for its answer.
            runtime.shutdown_background();
        });
        let thread = Some(thread.map_err(Error::Thread)?);
        Ok(Loopback { port, token, open, stop, thread })
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    #[must_use]
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// Waits until every request that has come in has its whole answer, but not longer.
    pub fn settle(&self, within: Duration) {
        let until = Instant::now() + within;
        while self.open.load(Ordering::Relaxed) > 0 && Instant::now() < until {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // It has said what went wrong.
            let _ = thread.join();
        }
    }
}

fn listen(port: u16) -> Result<TcpListener, Error> {
    let failed = |source| Error::Bind { port, source };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

async fn run(
    listener: TcpListener,
    router: Router,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let served =
        axum::serve(listener, router).with_graceful_shutdown(stop.clone().cancelled_owned());
    tokio::select! {
        ended = served.into_future() => ended,
        () = async { stop.cancelled().await; tokio::time::sleep(GRACE).await } => Ok(()),
    }
}
