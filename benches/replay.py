"""Records 50 episodes of different suites without pictures and replays them.

    .venv/bin/python benches/replay.py [--episodes 50] [--jobs N]

Prints whether every state came again, and how fast. Nothing else should run meanwhile.
"""

import argparse
import itertools
import json
import os
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUA = ROOT / "bin/rua"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--episodes", type=int, default=50)
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        scenes = pick(options.episodes)
        listed = Path(folder) / "scenes.json"
        listed.write_text(json.dumps(scenes))
        rua(
            ["play", "--scenes", listed, "--policy", ROOT / "benches/policies/wander.py"]
            + ["--pictures", "off", "--perception", "none", "--out", run]
        )
        one = replay(run, 1)
        many = replay(run, options.jobs)
    speeds = sorted(episode["times_real_time"] for episode in one["episodes"])
    stepping = sum(episode["stepping_s"] for episode in one["episodes"])
    simulated = sum(e["stepping_s"] * e["times_real_time"] for e in one["episodes"])
    suites = len({scene["suite"] for scene in scenes})
    print(f"| episodes, suites, control steps | {len(scenes)}, {suites}, {one['steps']} | |")
    print(f"| equal to the bit | {one['equal']} | {len(scenes)} |")
    print(f"| times real time, stepping, all of them | {simulated / stepping:.1f} | 10 |")
    print(
        f"| times real time, stepping: slowest, median, fastest episode | {speeds[0]:.1f}, "
        f"{speeds[len(speeds) // 2]:.1f}, {speeds[-1]:.1f} | |"
    )
    for jobs, told in ((1, one), (options.jobs, many)):
        print(
            f"| times real time, all in all, loading included, {jobs} at once "
            f"| {told['times_real_time']:.1f} | |"
        )


def pick(count):
    """So many scenes, from one suite after the other, each with a task and a seed of its own."""
    suites = json.loads(rua(["suites", "--json"]))
    whole = [suite for suite in suites if suite["complete"] == suite["tasks"]]
    rounds = itertools.product(range(count), whole)
    return [
        {"suite": suite["suite"], "task": (3 * n) % suite["tasks"], "seed": n}
        for n, (_, suite) in zip(range(count), rounds, strict=False)
    ]


def replay(run, jobs):
    return json.loads(rua(["replay", run, "--jobs", str(jobs), "--json"]))


def rua(arguments):
    done = subprocess.run([RUA, *arguments], stdout=subprocess.PIPE, text=True, check=False)
    # 1 also means that something differs, which the table says.
    if done.returncode not in (0, 1):
        raise SystemExit(f"rua {arguments[0]} ended with {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    main()
