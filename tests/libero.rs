//! The demo episode, in each way of starting it.
#![allow(clippy::unwrap_used)]

use std::net::TcpListener;
use std::process::Command;

use end_to_end::{Place, Records, root};
use ruaflow_record::{Reason, Status};
use ruaflow_schemas::State;

fn dora() -> std::path::PathBuf {
    std::env::var_os("RUAFLOW_DORA").map_or_else(|| root().join(".venv/bin/dora"), Into::into)
}

fn assert_solved(records: &Records) {
    let result = records.result();
    assert_eq!(
        (result.status, result.reason),
        (Status::Completed, Some(Reason::Success)),
        "{result:?}"
    );
    assert!(result.environment_success && result.episodes[0].recorded);
}

#[test]
fn the_demo_succeeds() {
    let place = Place::default();
    let ended = place.run(place.rua([
        "demo",
        "--suite",
        "libero_object_swap",
        "--task",
        "2",
        "--seed",
        "0",
        "--out",
        "out",
    ]));
    ended.assert_code(0);
    assert!(ended.out.contains("✓ success"), "{ended}");
    assert!(ended.out.contains(&place.path("out").display().to_string()), "{ended}");
    place.assert_nothing_left();
    let records = place.records();
    assert_solved(&records);
    records.assert_readable();
    let pictures = std::fs::read_dir(records.path("episodes/000/pictures")).unwrap().count();
    assert!(pictures >= 2, "{pictures} pictures");
    // Later cells compute from what earlier ones measured, so there are several.
    assert!(records.result().cells >= 3);
}

/// One seed, whoever starts the dataflow: the same states, bit for bit.
#[test]
fn dora_run_and_dora_start_lead_to_the_same_states() {
    let place = Place::default();
    let dataflow = root().join("dataflows/libero.yml");
    let policy = root().join("robots/policies/libero_demo.py").display().to_string();
    let settings = |out: &str| {
        let out = place.path(out).display().to_string();
        [("OUT", out), ("POLICY", policy.clone()), ("PICTURES", "off".to_owned())]
    };

    let mut run = place.command(dora());
    run.arg("run").arg(&dataflow).envs(settings("run-out"));
    place.run(run).assert_code(0);

    let daemon = Daemon::up(&place);
    let mut start = daemon.dora(["start"]);
    start.arg(&dataflow).arg("--attach");
    for (name, value) in settings("start-out") {
        start.args(["--env", &format!("{name}={value}")]);
    }
    place.run(start).assert_code(0);
    drop(daemon);

    let [run, start] = ["run-out", "start-out"].map(|out| Records::open(&place.path(out)));
    assert_solved(&run);
    assert_solved(&start);
    let bits = |records: &Records| -> Vec<Vec<u64>> {
        let states = records.rows::<State>(0);
        states.iter().map(|s| s.integration.iter().map(|x| x.to_bits()).collect()).collect()
    };
    assert!(bits(&run).len() > 10);
    assert_eq!(bits(&run), bits(&start));
    assert_eq!(run.rows::<State>(0), start.rows::<State>(0));
}

/// dora's coordinator and daemon, on a port and in a home of their own.
struct Daemon<'a> {
    place: &'a Place,
    port: u16,
}

impl<'a> Daemon<'a> {
    fn up(place: &'a Place) -> Self {
        std::fs::create_dir(place.path("home")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let daemon = Daemon { place, port };
        place.run(daemon.dora(["up"])).assert_code(0);
        daemon
    }

    fn dora<const N: usize>(&self, args: [&str; N]) -> Command {
        // The nodes find the data where set-up has put it, not in this home.
        let data = std::env::var_os("RUAFLOW_HOME").map_or_else(
            || {
                std::path::PathBuf::from(std::env::var_os("HOME").expect("HOME"))
                    .join(".cache/ruaflow")
            },
            Into::into,
        );
        let mut command = self.place.command(dora());
        command.args(args).env("HOME", self.place.path("home")).env("RUAFLOW_HOME", data);
        command.env("DORA_COORDINATOR_PORT", self.port.to_string());
        command
    }
}

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        // What does not go then, goes with the place.
        let _ = self.dora(["down"]).output();
    }
}
