"""Measures how many episodes a minute `rua eval` plays with two workers, beside one.

    .venv/bin/python benches/eval_workers.py [--episodes 40] [--repeats 2]

Nothing else should run meanwhile. Each repeat plays the same scenes with one worker and
with two, one right after the other.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICK_PLACE = ROOT / "benches/policies/pick_place.py"
CASES = [
    (
        "15 motion calls, no pictures",
        "1.8",
        {"planner": "script", "policy": str(PICK_PLACE), "perception": "none", "pictures": "off"},
    ),
    ("the builtin planner, with pictures", "1.4", {"planner": "builtin", "perception": "builtin"}),
]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--episodes", type=int, default=40)
    options.add_argument("--repeats", type=int, default=2)
    given = options.parse_args()

    print("| what | one worker | two workers | ratio | to reach |\n| --- | --- | --- | --- | --- |")
    for what, aim, player in CASES:
        rates = [[rate(player, given.episodes, n) for n in (1, 2)] for _ in range(given.repeats)]
        one, two = (statistics.median(column) for column in zip(*rates, strict=True))
        ratio = statistics.median(two / one for one, two in rates)
        print(f"| {what} | {one:.1f} a minute | {two:.1f} a minute | {ratio:.2f} | {aim} |")


def rate(player, episodes, workers):
    """Episodes a minute, start and end of the command included."""
    folder = Path(tempfile.mkdtemp(prefix="ruaflow-bench-"))
    plan = {
        "suites": "libero_spatial",
        "tasks": 0,
        "seeds": f"0-{episodes - 1}",
        "players": {"one": player},
    }
    # JSON is YAML.
    (folder / "plan.yml").write_text(json.dumps(plan))
    command = [ROOT / "bin/rua", "eval", folder / "plan.yml", "--out", folder / "campaign"]
    start = time.time()
    done = subprocess.run([*command, "--workers", str(workers)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"rua eval failed:\n{done.stdout}{done.stderr}")
    return 60 * episodes / (time.time() - start)


if __name__ == "__main__":
    main()
