//! A VLA policy behind `pi0_pick`, in a whole run.
#![allow(clippy::unwrap_used)]

use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

use end_to_end::{Place, root, wait_until};
use ruaflow_record::Status;
use ruaflow_schemas::{CallResult, Chunk};

const POLICY: &str = r#"
# %% pick
pick = robo.pi0_pick("pick up the black bowl", max_chunks=2)
print(pick.chunks_used, pick.success, pick.diagnostics["descent_done"])
# %% a policy that fails
try:
    robo.pi0_doubled("fail", max_chunks=1)
except ToolError as error:
    print(error)
print(robo.set_gripper(robo.OPEN, steps=1).steps)
"#;

#[test]
fn a_policy_server_moves_the_arm_and_its_failure_is_a_tool_error() {
    let place = Place::default();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut server = place.command(root().join(".venv/bin/python"));
    server.arg(root().join("nodes/vla/tests/peer.py")).arg(port.to_string());
    let mut server = server.stderr(Stdio::null()).spawn().unwrap();
    wait_until("the policy server", || TcpStream::connect(("127.0.0.1", port)).is_ok());

    place.write("policy.py", POLICY);
    let url = format!("ws://127.0.0.1:{port}");
    let args =
        ["play", "--policy", "policy.py", "--pictures", "off", "--out", "out", "--vla", &url];
    let ended = place.run(place.rua(args));
    server.kill().unwrap();
    server.wait().unwrap();
    ended.assert_code(0);
    place.assert_nothing_left();

    let records = place.records();
    assert_eq!(records.result().status, Status::Completed);
    let printed = |cell: u32| {
        std::fs::read_to_string(records.path(&format!("episodes/000/cells/{cell:03}.txt"))).unwrap()
    };
    assert!(printed(1).contains("2 False False"), "{}", printed(1));
    assert!(printed(2).contains("RuntimeError: the policy can't do that"), "{}", printed(2));

    let chunks: Vec<Chunk> = records.rows(0);
    let steps: Vec<u64> = chunks.iter().map(|chunk| chunk.control_step).collect();
    assert_eq!(steps, [0, 5, 10], "a chunk is made from the last observation");
    let calls: Vec<CallResult> = records.rows(0);
    let moved: Vec<u64> = calls.iter().map(|call| call.control_steps).collect();
    assert_eq!(moved, [10, 0, 1]);
}

#[test]
fn without_a_policy_the_call_says_how_to_get_one() {
    let place = Place::default();
    place.write("policy.py", "# %%\nrobo.pi0_pick(\"pick up the bowl\")\n");
    let args = ["play", "--policy", "policy.py", "--pictures", "off", "--out", "out"];
    place.run(place.rua(args)).assert_code(0);
    let calls: Vec<CallResult> = place.records().rows(0);
    assert_eq!(calls[0].error, "tool_error");
    assert!(calls[0].message.contains("VLA=openpi"), "{}", calls[0].message);
    assert_eq!(calls[0].control_steps, 0);
}

#[test]
fn a_model_that_is_not_one_ends_the_run_at_its_start() {
    let place = Place::default();
    place.write("policy.py", "# %%\nprint('never')\n");
    place.write("grasp.onnx", "not a model");
    let args = ["play", "--policy", "policy.py", "--out", "out", "--vla", "grasp.onnx"];
    let ended = place.run(place.rua(args));
    ended.assert_code(1).assert_error(&["node \"vla\"", "grasp.onnx", "can't be loaded"]);
}
