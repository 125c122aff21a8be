"""Measures what docs/benchmarks.md reports, on this machine, and prints the table.

    .venv/bin/python benches/measure.py [--repeats 3]

Nothing else should run meanwhile. A test never looks at these numbers.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parent.parent
SCENE = ["--suite", "libero_spatial", "--task", "0", "--seed", "0"]
PEER_CALLS_S = 54.0  # the peer's 15 calls on two cores: RPent at 8c318fb, see docs/benchmarks.md


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--repeats", type=int, default=3)
    repeats = options.parse_args().repeats
    rows = []

    demo = [timed([ROOT / "bin/rua", "demo", "--out"]) for _ in range(repeats)]
    rows.append(("`rua demo`, warm, start to exit", f"{median(demo, 'wall'):.1f} s", "30 s"))

    plays = [play("pick_place.py", "off") for _ in range(repeats)]
    for run in plays:
        run["results"] = table(run, "result")
    first_call = statistics.median(
        run["results"]["sent_ns"][0].as_py() / 1e9 - run["start"] for run in plays
    )
    rows.append(("`rua play` to the first call answered, warm", f"{first_call:.1f} s", "5 s"))
    calls = statistics.median(seconds(run) for run in plays)
    last = plays[-1]
    count, steps = len(last["results"]), sum(last["results"]["control_steps"].to_pylist())
    rows.append(
        (f"{count} motion calls, {steps} control steps, no pictures", f"{calls:.2f} s", "1.5 s")
    )
    rows.append(
        ("the same against the peer's 54 s", f"{PEER_CALLS_S / calls:.0f} times faster", "")
    )
    rows.append(("disk of that run", f"{last['disk'] / 1e6:.2f} MB", "2 MB"))
    rows.append(
        ("memory (PSS, all nodes), no pictures", f"{last['pss'] / 2**20:.0f} MiB", "1024 MiB")
    )

    flow_ms = 1e3 * calls / steps
    inside_ms = in_process(last)
    rows.append(("a control step: in process", f"{inside_ms:.2f} ms", ""))
    rows.append(
        ("a control step: through the dataflow, more", f"{flow_ms - inside_ms:+.2f} ms", "1 ms")
    )

    pictured = play("pick_place.py", "calls")
    rows.append(
        (
            "memory (PSS, all nodes), a picture a call",
            f"{pictured['pss'] / 2**20:.0f} MiB",
            "2048 MiB",
        )
    )

    state = play("state.py", "off")
    printed = json.loads(next(state["out"].glob("episodes/000/cells/001.json")).read_text())[
        "stdout"
    ]
    values = dict(item.split("=") for item in printed.split())
    rows.append(("`robo.state()` from a cell, median", f"{values['median_ms']} ms", "1 ms"))
    rows.append(("`robo.state()` from a cell, 99th percentile", f"{values['p99_ms']} ms", ""))

    empty = round_trips(300)
    rows.append(("an empty cell, planner to planner, median", f"{empty[150]:.2f} ms", "3 ms"))
    rows.append(("an empty cell, 95th percentile", f"{empty[285]:.2f} ms", ""))

    print("| what | measured | to reach |\n| --- | --- | --- |")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def play(policy, pictures):
    command = [ROOT / "bin/rua", "play", *SCENE, "--policy", ROOT / "benches/policies" / policy]
    return timed([*command, "--pictures", pictures, "--out"])


def round_trips(count):
    """Milliseconds from sending one empty cell to sending the next, from the least."""
    policy = Path(tempfile.mkdtemp(prefix="ruaflow-bench-")) / "empty.py"
    policy.write_text("# %%\npass\n" * (count + 1))
    sent = table(play(policy, "off"), "cell")["sent_ns"].to_pylist()
    return sorted((after - before) / 1e6 for before, after in zip(sent, sent[1:], strict=False))


def timed(command):
    """Runs a command that ends in `--out`; wall time, peak memory, where it recorded."""
    out = Path(tempfile.mkdtemp(prefix="ruaflow-bench-")) / "run"
    start = time.time()
    process = subprocess.Popen([*command, out], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    peak = {"pss": 0}
    watch = threading.Thread(target=watch_memory, args=(process, peak))
    watch.start()
    output = process.communicate()[0]
    wall = time.time() - start
    watch.join()
    if process.returncode != 0:
        raise SystemExit(f"{command} failed:\n{output.decode()}")
    disk = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    return {"start": start, "wall": wall, "out": out, "pss": peak["pss"], "disk": disk}


def watch_memory(process, peak):
    while process.poll() is None:
        peak["pss"] = max(peak["pss"], nodes_pss())
        time.sleep(0.2)


def nodes_pss():
    """Proportional set size of this clone's node processes, bytes."""
    total = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            program = Path(os.readlink(entry / "exe"))
            if program.parent == ROOT / "bin" and program.name != "rua":
                rollup = (entry / "smaps_rollup").read_text()
                total += 1024 * int(rollup.split("Pss:")[1].split()[0])
        except (OSError, IndexError, ValueError):
            continue  # the process has ended
    return total


def table(run, topic):
    return pq.read_table(run["out"] / f"episodes/000/{topic}.parquet")


def seconds(run):
    return sum(run["results"]["elapsed_ns"].to_pylist()) / 1e9


def in_process(run):
    """Milliseconds per control step of the same actions without a dataflow."""
    actions = table(run, "action")
    lines = "\n".join(
        " ".join(repr(value) for value in [*values, gripper])
        for values, gripper in zip(
            actions["values"].to_pylist(), actions["gripper"].to_pylist(), strict=True
        )
    )
    done = subprocess.run(
        [example("step_actions"), "libero_spatial", "0", "0", "15"],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[0])


def example(name):
    """Builds an example with the workspace's features, so that nothing else is rebuilt."""
    build = [ROOT / "rua", "cargo", "build", "--workspace", "--example", name]
    built = subprocess.run(
        [*build, "--message-format", "json"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    artifacts = (json.loads(line) for line in built.stdout.splitlines() if line.startswith("{"))
    return next(a["executable"] for a in artifacts if a.get("target", {}).get("name") == name)


def median(runs, key):
    return statistics.median(run[key] for run in runs)


if __name__ == "__main__":
    main()
