"""Records what scripted episodes come to on the Python reference, into `episodes.jsonl`.

    ./rua setup --with libero-python
    ~/.cache/ruaflow/libero-python/bin/python tests/reference/record.py [--only N]

The demo, ten episodes in which something is to be taken and put, and one policy with
every motion primitive on six suites. `tests/libero_python.rs` plays them again, on
`libero` and on `libero-python`. Where things lie is read from the simulator, which no
agent can do. Whether they succeed does not matter: what counts is that both sides say the same.
"""

import argparse
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "kit/python"), str(ROOT / "nodes/libero-python")]

from reference import Scene  # noqa: E402

EPISODES = Path(__file__).with_name("episodes.jsonl")
DEMO = "robots/policies/libero_demo.py"
TAKE_AND_PUT = "tests/reference/policies/take_and_put.py"
MOTIONS = "tests/reference/policies/motions.py"

# Where a thing is gripped, seen from its origin: metres along y, and up.
RIM, MUG, MIDDLE = (-0.05, 0.035), (-0.04, 0.06), (0.0, 0.01)
# Policy, suite, task, seed, grip.
SCENES = [
    (DEMO, "libero_spatial", 0, 0, None),
    (TAKE_AND_PUT, "libero_spatial", 0, 0, RIM),
    (TAKE_AND_PUT, "libero_spatial", 2, 1, RIM),
    (TAKE_AND_PUT, "libero_spatial_swap", 0, 0, RIM),
    (TAKE_AND_PUT, "libero_spatial_with_mug", 0, 3, RIM),
    (TAKE_AND_PUT, "libero_goal", 1, 2, RIM),
    (TAKE_AND_PUT, "libero_goal_lan", 8, 0, RIM),
    (TAKE_AND_PUT, "libero_object", 0, 0, MIDDLE),
    (TAKE_AND_PUT, "libero_object_swap", 2, 1, MIDDLE),
    (TAKE_AND_PUT, "libero_10", 5, 0, MUG),
    (TAKE_AND_PUT, "libero_90", 14, 0, RIM),
    (MOTIONS, "libero_spatial", 0, 0, None),
    (MOTIONS, "libero_object", 3, 1, None),
    (MOTIONS, "libero_goal_swap", 4, 2, None),
    (MOTIONS, "libero_10", 0, 0, None),
    (MOTIONS, "libero_90", 75, 3, None),
    (MOTIONS, "libero_10_with_mug", 8, 0, None),
]
SETTLE = 15


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--only", type=int, help="number of an episode, from 0")
    only = options.parse_args().only
    lines = EPISODES.read_text(encoding="utf-8").splitlines() if EPISODES.exists() else []
    lines += [""] * (len(SCENES) - len(lines))
    for number in range(len(SCENES)) if only is None else [only]:
        episode = record(*SCENES[number])
        lines[number] = json.dumps(episode, separators=(",", ":"))
        EPISODES.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        words = {name: episode[name] for name in ("policy", "suite", "task", "solved", "reason")}
        print(number, words, len(episode["calls"]), "calls", flush=True)


def record(policy: str, suite: str, task: int, seed: int, grip) -> dict:
    head = "" if grip is None else positions(suite, task, seed, grip)
    episode = {
        "policy": policy,
        "head": head,
        "suite": suite,
        "task": task,
        "seed": seed,
        "settle": SETTLE,
    }
    with tempfile.TemporaryDirectory() as folder:
        text = head + (ROOT / policy).read_text(encoding="utf-8")
        file, out = Path(folder) / "policy.py", Path(folder) / "run"
        file.write_text(text, encoding="utf-8")
        scene = ["--suite", suite, "--task", str(task), "--seed", str(seed)]
        command = [str(ROOT / "bin/rua"), "play", "--robot", "libero-python", *scene]
        command += ["--settle", str(SETTLE), "--policy", str(file), "--pictures", "off"]
        done = subprocess.run(
            [*command, "--out", str(out)], capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        result = json.loads((out / "result.json").read_text(encoding="utf-8"))
        if result["status"] != "completed":
            sys.exit(f"{policy} on {suite} {task}: {result['error'] or done.stderr}")
        return episode | {
            "solved": result["environment_success"],
            "reason": result["reason"],
            "control_steps": result["env_steps"],
            "printed": [cell["stdout"] for cell in rows(out, "cell_result")],
            "calls": [call(row) for row in rows(out, "result")],
        }


def positions(suite: str, task: int, seed: int, grip: tuple[float, float]) -> str:
    """The lines of a policy that say where to take and where to put."""
    scene = Scene(suite, task)
    scene.reset(seed, SETTLE)
    goal = scene.inner.parsed_problem["goal_state"]
    _, thing, target = next(words for words in goal if words[0] in ("on", "in"))
    side, up = grip
    pick, place = position(scene, thing), position(scene, target)
    numbers = {
        "PICK": [pick[0], pick[1] + side, pick[2] + up],
        "PLACE": [place[0], place[1] + side, place[2]],
    }
    lines = [f"{name} = {[round(value, 4) for value in xyz]}\n" for name, xyz in numbers.items()]
    return "".join(lines)


def position(scene: Scene, name: str) -> list[float]:
    inner = scene.inner
    if name in inner.obj_body_id:
        return scene.data.xpos[inner.obj_body_id[name]].tolist()
    return scene.data.site_xpos[inner.sim.model.site_name2id(name)].tolist()


def rows(out: Path, topic: str) -> list[dict]:
    return pq.read_table(out / f"episodes/000/{topic}.parquet").to_pylist()


def call(row: dict) -> dict:
    """A call's answer; what the arm measured after it to the last bit."""
    arm = row["observation"]["arms"][0]
    numbers = [*arm["joint_pos"], *arm["eef_pos"], *arm["eef_quat"], *arm["gripper_qpos"]]
    kept = ("method", "arguments", "outcome", "error", "message", "step", "control_steps")
    return {name: row[name] for name in kept} | {
        "arm": struct.pack(f"<{len(numbers)}d", *numbers).hex()
    }


if __name__ == "__main__":
    main()
