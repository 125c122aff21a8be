//! The walls themselves, tried natively, as by a cell whose code has taken over
//! its process.

use std::io::Write as _;
use std::process::{Command, Stdio};

use cell_runner::child::{Child, ChildEvent};
use cell_runner::sandbox::attempt::{ARGUMENT, ATTEMPTS, ESCAPED, REFUSED};
use cell_runner::sandbox::{Layer, Wall};

use crate::seat::config;

/// The walls that this machine offers.
fn standing() -> Vec<Layer> {
    let (sender, events) = crossbeam_channel::unbounded();
    let _child = Child::spawn(&config(), move |event| {
        let _ = sender.send(event);
    })
    .unwrap();
    let ChildEvent::Ready { layers } = events.recv().unwrap() else {
        panic!("the child did not come up");
    };
    layers
}

fn holds(layers: &[Layer], wall: Wall) -> bool {
    layers.iter().any(|layer| layer.wall == wall && layer.holds)
}

/// Whether a wall stands on this machine; if not, that is said where it can be seen.
fn stands(wall: Wall) -> bool {
    let layers = standing();
    if let Some(missing) = layers.iter().find(|layer| layer.wall == wall && !layer.holds) {
        // Unlike `eprintln!`, this is not kept back.
        let _ = writeln!(std::io::stderr(), "SKIPPED: no {}: {}", wall.name(), missing.note);
    }
    holds(&layers, wall)
}

/// How an attempt ends with some walls left out: its exit code, or nothing when it was killed.
fn attempt(name: &str, without: &[&str]) -> Option<i32> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cell-runner"));
    command.args([ARGUMENT, name]).args(without);
    command.stdin(Stdio::null()).stderr(Stdio::null()).status().unwrap().code()
}

#[test]
fn every_wall_is_told() {
    let layers = standing();
    let walls: Vec<Wall> = layers.iter().map(|layer| layer.wall).collect();
    assert!(Wall::ALL.iter().all(|wall| walls.contains(wall)), "{layers:?}");
    // These two need nothing of the kernel that any Linux of today lacks.
    assert!(holds(&layers, Wall::Privileges) && holds(&layers, Wall::Limits), "{layers:?}");
}

#[test]
fn no_attempt_gets_through() {
    if !stands(Wall::SystemCalls) {
        return;
    }
    let escaped: Vec<&str> = ATTEMPTS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| attempt(name, &[]) == Some(i32::from(ESCAPED)))
        .collect();
    assert!(escaped.is_empty(), "{escaped:?}");
}

#[test]
fn an_attempt_outside_the_walls_can_succeed() {
    // Else the test above would prove nothing.
    let none: Vec<&str> = Wall::ALL.iter().map(|wall| wall.name()).collect();
    for name in ["read a file", "open a local socket", "fork", "make a thread", "map memory to run"]
    {
        assert_eq!(attempt(name, &none), Some(i32::from(ESCAPED)), "{name}");
    }
}

#[test]
fn files_are_closed_also_without_the_filter_of_system_calls() {
    if !stands(Wall::Landlock) {
        return;
    }
    for name in ["read a file", "write a file", "list a folder", "make a folder"] {
        let without = [Wall::SystemCalls.name()];
        assert_eq!(attempt(name, &without), Some(i32::from(REFUSED)), "{name}");
    }
}
