//! The client against openpi's own server, PyPI `openpi-server`.
#![allow(clippy::unwrap_used)]

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use vla::openpi::OpenPi;
use vla::policy::{Policy as _, PolicyError, Shown};
use vla::{Picture, Secret};

struct Server {
    process: Child,
    port: u16,
}

impl Server {
    fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut server = Server { process: Self::spawn(port), port };
        server.wait();
        server
    }

    fn spawn(port: u16) -> Child {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = std::env::var_os("RUAFLOW_ROOT").map_or(here.join("../.."), PathBuf::from);
        let python = root.join(".venv/bin/python");
        Command::new(&python)
            .arg(here.join("tests/peer.py"))
            .arg(port.to_string())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{python:?} (`./rua setup` makes it): {error}"))
    }

    fn wait(&mut self) {
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(self.process.try_wait().unwrap().is_none(), "the server has ended");
            assert!(begun.elapsed() < Duration::from_secs(60), "the server does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn policy(&self) -> OpenPi {
        let url = format!("ws://127.0.0.1:{}", self.port);
        OpenPi::new(&url, Some(Secret("secret".to_owned())), Duration::from_secs(30)).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn shown(prompt: &str) -> Shown {
    let half = |col: usize| if col < 128 { [255, 255, 255] } else { [0, 0, 0] };
    let rgb = (0..256 * 256).flat_map(|index| half(index % 256)).collect();
    Shown {
        image: Picture { width: 256, height: 256, rgb },
        wrist_image: Picture { width: 256, height: 256, rgb: vec![51; 256 * 256 * 3] },
        state: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
        prompt: prompt.to_owned(),
    }
}

#[test]
fn the_server_sees_what_was_shown_and_its_actions_come_back() {
    let server = Server::start();
    let mut policy = server.policy();
    let actions = policy.infer(&shown("pick up the bowl")).unwrap();
    assert_eq!(actions.rows.len(), 10);
    let expected = [1.0, 0.0, 0.2, 0.1, 0.6, 0.8, 16.0];
    for (told, expected) in actions.rows[9].iter().zip(expected) {
        assert!((told - expected).abs() < 1e-3, "{:?}", actions.rows[9]);
    }
}

#[test]
fn what_a_server_does_wrong_is_told_and_the_next_request_is_served() {
    let server = Server::start();
    let mut policy = server.policy();
    let told = |error: PolicyError| error.to_string();
    let error = told(policy.infer(&shown("fail")).unwrap_err());
    assert!(error.contains("RuntimeError: the policy can't do that"), "{error}");
    assert!(!error.contains("secret"));
    let error = told(policy.infer(&shown("nan")).unwrap_err());
    assert!(error.contains("not finite"), "{error}");
    let error = told(policy.infer(&shown("flat")).unwrap_err());
    assert!(error.contains("shape [35]"), "{error}");
    assert_eq!(policy.infer(&shown("again")).unwrap().rows.len(), 10);
}

#[test]
fn a_server_that_goes_is_named_and_one_that_comes_back_is_found() {
    let mut server = Server::start();
    let mut policy = server.policy();
    policy.infer(&shown("a")).unwrap();
    server.process.kill().unwrap();
    server.process.wait().unwrap();
    let error = policy.infer(&shown("b")).unwrap_err();
    assert!(matches!(error, PolicyError::Unreachable { .. }), "{error}");
    server.process = Server::spawn(server.port);
    server.wait();
    assert_eq!(policy.infer(&shown("c")).unwrap().rows.len(), 10);
}

#[test]
fn a_server_that_does_not_answer_is_late() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", silent.local_addr().unwrap());
    let mut policy = OpenPi::new(&url, None, Duration::from_secs(1)).unwrap();
    let error = policy.infer(&shown("a")).unwrap_err();
    assert!(matches!(error, PolicyError::Late { seconds: 1, .. }), "{error}");
}
