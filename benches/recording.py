"""Measures what docs/benchmarks.md reports of recording, and prints the tables.

    .venv/bin/python benches/recording.py [--repeats 3]

Nothing else should run meanwhile. The scene is libero_spatial task 0, seed 0; the policy is
benches/policies/pick_place.py, a pick and place of some 115 control steps.
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
from measure import ROOT, SCENE, example

POLICY = ROOT / "benches/policies/pick_place.py"
CAMERAS = """
  - id: cameras
    path: {program}
    inputs:
      event-planner: {{ source: planner/event, queue_policy: backpressure }}
      receipt: {{ source: recorder/receipt, queue_policy: backpressure }}
    outputs: [event, record]
"""
MORE_INPUTS = """    inputs:
      record-cameras: cameras/record
      event-cameras: { source: cameras/event, queue_policy: backpressure }
"""
LOOK = 'robo.show("agentview"); robo.show("wrist")'


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--repeats", type=int, default=3)
    repeats = options.parse_args().repeats
    with tempfile.TemporaryDirectory() as folder:
        sizes(Path(folder))
        cost(Path(folder), repeats)
        cameras(Path(folder), repeats)


def sizes(folder):
    print("| run | on disk | of it states | pictures that the agent saw | recorded pictures |")
    print("| --- | --- | --- | --- | --- |")
    ten = folder / "ten.py"
    moves = POLICY.read_text().split("    robo.move_to")
    looks = [f"{move}    {LOOK}\n" for move in moves[1:6]]
    ten.write_text("    robo.move_to".join([moves[0], *looks, *moves[6:]]))
    for level in ("light", "standard", "full"):
        row(level, play(folder, POLICY, ["--record", level]))
    row("standard, ten pictures of 1024 x 1024 seen", play(folder, ten, ["--cell-timeout", "600"]))


def row(name, run):
    out = run["out"]
    parts = [out.glob("episodes/*/state.parquet"), out.glob("episodes/*/cells/*.png")]
    parts.append(out.glob("episodes/*/pictures/*"))
    cells = [f"{sum(map(size, part)) / 1e6:.2f} MB" for part in parts]
    total = sum(size(path) for path in out.rglob("*") if path.is_file())
    steps = result(run)["env_steps"]
    print(f"| {name}, {steps} control steps | {total / 1e6:.2f} MB | {' | '.join(cells)} |")


def cost(folder, repeats):
    runs = [play(folder, POLICY, ["--pictures", "off"]) for _ in range(repeats)]
    shares = [run["recorder_s"] / result(run)["total_wall_s"] for run in runs]
    last = statistics.median(after_verdict(run) for run in runs)
    print(f"\nrecorder's CPU time, part of the run's: {100 * statistics.median(shares):.1f} %")
    print(f"from the verdict to the end of all nodes, compaction included: {last:.2f} s")


def cameras(folder, repeats):
    """The same episode with two cameras beside it that record all the time."""
    root = root_with_cameras(folder)
    for number in range(repeats):
        run = play(folder, POLICY, ["--robot", "cameras", "--pictures", "off"], root)
        path = run["out"] / "episodes/000"
        frames = pq.read_table(path / "frame.parquet", columns=["seq", "sent_ns"])
        events = pq.read_table(path / "event.parquet").to_pylist()
        data = {event["kind"]: json.loads(event["data"]) for event in events}
        sent = data["pictured"]["frames"]
        seconds = (frames["sent_ns"][-1].as_py() - frames["sent_ns"][0].as_py()) / 1e9
        lost = sent - len(set(frames["seq"].to_pylist()))
        print(
            f"cameras {number}: {sent} frames in {seconds:.1f} s "
            f"({sent / max(seconds, 1e-9):.0f} a second), {lost} lost, "
            f"{data['recorded']['lost_batches']} batches lost; "
            f"{size(path / 'frame.parquet') / 1e6:.0f} MB on disk; recorder "
            f"{run['recorder_s']:.2f} s of CPU in {result(run)['total_wall_s']:.1f} s"
        )


def root_with_cameras(folder):
    """A clone of links whose dataflow has one more node."""
    root = folder / "root"
    root.mkdir()
    for entry in ROOT.iterdir():
        if entry.name != "dataflows":
            (root / entry.name).symlink_to(entry)
    (root / "dataflows").mkdir()
    text = (ROOT / "dataflows/libero.yml").read_text()
    head, recorder = text.split("  - id: recorder\n")
    recorder = recorder.replace("    inputs:\n", MORE_INPUTS, 1)
    program = example("cameras")
    flow = head + "  - id: recorder\n" + recorder + CAMERAS.format(program=program)
    (root / "dataflows/cameras.yml").write_text(flow)
    return root


def play(folder, policy, options, root=ROOT):
    out = Path(tempfile.mkdtemp(dir=folder))
    command = [ROOT / "bin/rua", "play", *SCENE, "--policy", policy, "--out", out, *options]
    process = subprocess.Popen(
        command, env={**os.environ, "RUAFLOW_ROOT": str(root)}, stdout=subprocess.DEVNULL
    )
    spent = {}
    watcher = threading.Thread(target=watch, args=(process, spent))
    watcher.start()
    if process.wait() != 0:
        raise SystemExit(f"{command} failed")
    watcher.join()
    return {"out": out, "recorder_s": max(spent.values()), "end": time.time()}


def watch(process, spent):
    """CPU seconds of the recorder, as long as it lives."""
    while process.poll() is None:
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.readlink(entry / "exe") == str(
                    ROOT / "bin/recorder"
                ):
                    fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                    ticks = int(fields[11]) + int(fields[12])
                    spent[entry.name] = ticks / os.sysconf("SC_CLK_TCK")
            except OSError:
                continue  # the process has ended
        time.sleep(0.05)


def after_verdict(run):
    lines = (run["out"] / "progress.jsonl").read_text().splitlines()
    return run["end"] - json.loads(lines[-1])["t"]


def result(run):
    return json.loads((run["out"] / "result.json").read_text())


def size(path):
    return path.stat().st_size


if __name__ == "__main__":
    main()
