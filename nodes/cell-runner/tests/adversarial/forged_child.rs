//! A child that says what ours never would. The node must believe nothing.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Duration;

use cell_runner::child::{Child, ChildConfig, ChildEvent, Exit};
use cell_runner::protocol::{Done, FromChild, Stream, write_message};
use crossbeam_channel::Receiver;
use serde_json::Map;

struct Forged {
    child: Child,
    events: Receiver<ChildEvent>,
    _folder: tempfile::TempDir,
}

impl Forged {
    /// A program that sends `said` over its socket, `times` times, and then waits.
    fn saying(said: &[u8], times: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let words = folder.path().join("words");
        std::fs::write(&words, said).unwrap();
        let program = folder.path().join("child");
        let words = words.display();
        let script = format!(
            "#!/bin/sh\ni=0\nwhile [ $i -lt {times} ]; do /bin/cat {words} >&0 || exit; i=$((i+1)); done\nexec /bin/sleep 60\n"
        );
        // Another process writes the program: a descriptor of ours could live on in a
        // process that another test forks at this moment, and keep the file busy.
        let source = folder.path().join("source");
        std::fs::write(&source, script).unwrap();
        std::fs::set_permissions(&source, std::fs::Permissions::from_mode(0o700)).unwrap();
        let copied = Command::new("/bin/cp").arg("-p").args([&source, &program]).status().unwrap();
        assert!(copied.success());
        let (sender, events) = crossbeam_channel::unbounded();
        let config = ChildConfig { program, memory_bytes: 1 << 20 };
        let child = Child::spawn(&config, move |event| {
            let _ = sender.send(event);
        })
        .unwrap();
        Self { child, events, _folder: folder }
    }

    /// What was believed, and why the child was ended.
    fn ends(&self) -> (Vec<ChildEvent>, String) {
        let mut believed = Vec::new();
        loop {
            match self.events.recv_timeout(Duration::from_secs(30)).unwrap() {
                ChildEvent::Exited { exit: Exit::Misbehaved { what }, .. } => {
                    return (believed, what);
                }
                ChildEvent::Exited { exit, .. } => panic!("{exit}"),
                event => believed.push(event),
            }
        }
    }
}

fn bytes(messages: &[FromChild]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        write_message(&mut bytes, message, b"").unwrap();
    }
    bytes
}

fn ready() -> FromChild {
    FromChild::Ready { layers: Vec::new() }
}

fn call(id: u64) -> FromChild {
    FromChild::Call { id, method: "move_to".to_owned(), arguments: Map::new() }
}

fn done(index: u32) -> FromChild {
    FromChild::Done(Done { index, value: None, error: None, finish: None })
}

#[test]
fn a_result_without_a_cell_is_not_believed() {
    let (believed, what) = Forged::saying(&bytes(&[ready(), done(1)]), 1).ends();
    assert!(matches!(believed[..], [ChildEvent::Ready { .. }]), "{believed:?}");
    assert_eq!(what, "ended a cell that does not run");
}

#[test]
fn a_call_without_a_cell_moves_nothing() {
    let (believed, what) = Forged::saying(&bytes(&[ready(), call(0)]), 1).ends();
    assert!(matches!(believed[..], [ChildEvent::Ready { .. }]), "{believed:?}");
    assert_eq!(what, "asked for something although no cell runs");
}

#[test]
fn a_call_after_the_end_of_its_cell_moves_nothing() {
    let forged = Forged::saying(&bytes(&[done(7), call(0)]), 1);
    // Before it speaks: a shell takes longer to start than this.
    forged.child.run(7, "");
    let (believed, _) = forged.ends();
    assert!(!believed.iter().any(|event| matches!(event, ChildEvent::Call { .. })));
}

#[test]
fn calls_without_end_are_few() {
    let forged = Forged::saying(&bytes(&[call(0), call(1), call(2)]), 1_000);
    forged.child.run(7, "");
    let (believed, _) = forged.ends();
    assert!(believed.len() <= 8, "{}", believed.len());
}

#[test]
fn text_without_end_ends() {
    let text = "x".repeat(1 << 16);
    let output = FromChild::Output { stream: Stream::Stdout, skipped: 0, text };
    let (believed, what) = Forged::saying(&bytes(&[output]).repeat(64), 1_000).ends();
    assert!(believed.is_empty());
    assert_eq!(what, "flooded the node with text");
}

#[test]
fn rubbish_is_no_message() {
    let long = [u32::MAX.to_le_bytes(), 0_u32.to_le_bytes()].concat();
    let mut no_json = [2_u32.to_le_bytes(), 0_u32.to_le_bytes()].concat();
    no_json.extend(b"{{");
    for rubbish in [long, no_json, vec![0; 4096], b"GET / HTTP/1.1\r\n\r\n".to_vec()] {
        let (believed, what) = Forged::saying(&rubbish, 1).ends();
        assert!(believed.is_empty());
        assert!(what.starts_with("sent something else than a message"), "{what}");
    }
}
