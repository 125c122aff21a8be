"""Plays ten scripted episodes on `libero` and on `libero-python`, and compares the verdicts.

    ./rua setup --with libero-python
    ~/.cache/ruaflow/libero-python/bin/python benches/verdicts.py [--only N]

Where things lie is read from the simulator, which no agent can do; the policies that
come of it are the same file for both robots. Some are meant to fail: what counts is
that both sides say the same.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "kit/python"), str(ROOT / "nodes/libero-python")]

from reference import Scene  # noqa: E402

# Suite, task, seed, and where a thing is gripped, seen from its origin: metres along y, and up.
RIM, MUG, MIDDLE = (-0.05, 0.035), (-0.04, 0.06), (0.0, 0.01)
EPISODES = [
    ("libero_spatial", 0, 0, RIM),
    ("libero_spatial", 2, 1, RIM),
    ("libero_spatial_swap", 0, 0, RIM),
    ("libero_spatial_with_mug", 0, 3, RIM),
    ("libero_goal", 1, 2, RIM),
    ("libero_goal_lan", 8, 0, RIM),
    ("libero_object", 0, 0, MIDDLE),
    ("libero_object_swap", 2, 1, MIDDLE),
    ("libero_10", 5, 0, MUG),
    ("libero_90", 14, 0, RIM),
]
SETTLE = 15


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--only", type=int, help="number of an episode, from 0")
    only = options.parse_args().only
    chosen = EPISODES if only is None else [EPISODES[only]]
    print(
        "| suite | task | seed | libero | libero-python | same |\n| --- | --- | --- | --- | --- | --- |"
    )
    same = True
    with tempfile.TemporaryDirectory() as folder:
        for number, (suite, task, seed, grip) in enumerate(chosen):
            policy = Path(folder) / f"{number}.py"
            policy.write_text(policy_for(suite, task, seed, grip), encoding="utf-8")
            out = Path(folder) / str(number)
            rust, python = (
                play(robot, suite, task, seed, policy, out / robot)
                for robot in ("libero", "libero-python")
            )
            agrees = rust["solved"] == python["solved"] and rust["reason"] == python["reason"]
            same &= agrees
            words = ["yes" if agrees else "NO"]
            print(
                f"| `{suite}` | {task} | {seed} | {say(rust)} | {say(python)} | {words[0]} |",
                flush=True,
            )
    sys.exit(0 if same else 1)


def policy_for(suite: str, task: int, seed: int, grip: tuple[float, float]) -> str:
    """The policy file, with the positions that it needs."""
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
    return "".join(lines) + (ROOT / "benches/policies/take_and_put.py").read_text(encoding="utf-8")


def position(scene: Scene, name: str) -> list[float]:
    inner = scene.inner
    if name in inner.obj_body_id:
        return scene.data.xpos[inner.obj_body_id[name]].tolist()
    return scene.data.site_xpos[inner.sim.model.site_name2id(name)].tolist()


def play(robot: str, suite: str, task: int, seed: int, policy: Path, out: Path) -> dict:
    scene = ["--suite", suite, "--task", str(task), "--seed", str(seed)]
    command = [str(ROOT / "bin/rua"), "play", "--robot", robot, *scene, "--settle", str(SETTLE)]
    command += ["--policy", str(policy), "--pictures", "off", "--json", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    if result["status"] != "completed":
        sys.exit(f"{robot}, {suite} {task}: {result['error'] or done.stderr}")
    return {
        "solved": result["environment_success"],
        "reason": result["reason"],
        "steps": result["env_steps"],
    }


def say(run: dict) -> str:
    return f"{'solved' if run['solved'] else 'not solved'}, {run['steps']} control steps"


if __name__ == "__main__":
    main()
