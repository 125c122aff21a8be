"""Compares a recording for the Rerun viewer with the run it was made of, as Rerun's own
reader finds it: check.py FILE.rrd RUN"""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rerun.chunk import RrdReader

CAMERAS = ["agentview", "wrist"]


def main(recording, run):
    rows, batches = Counter(), {}
    for chunk in RrdReader(recording).stream():
        if not chunk.is_static:
            rows[chunk.entity_path] += chunk.num_rows
            batches.setdefault(chunk.entity_path, []).append(chunk.to_record_batch())
    card = json.loads((run / "episodes/000/card.json").read_text())
    observations = topic(run, "observation")
    steps, arm = len(observations), card["arms"][0]["name"]
    expected = [f"/world/{arm}/eef", f"/world/{arm}/eef_path", f"/gripper/{arm}", "/success"]
    expected += [f"/joints/{arm}/{joint}" for joint in card["arms"][0]["joints"]]
    expected += [f"/world/objects/{name}" for name in card["object_names"]]
    for camera in CAMERAS:
        expected += [f"/world/cameras/{camera}{part}" for part in ("", "/color", "/depth")]
    for entity in expected:
        assert rows[entity] == steps, f"{entity}: {rows[entity]} rows, {steps} control steps"
    for entity, name in (("cell", "cell"), ("log/call", "call"), ("log/result", "result")):
        assert rows[f"/{entity}"] == len(topic(run, name)), entity

    found = [value for batch in batches[f"/gripper/{arm}"] for value in scalars(batch)]
    openings = [row["arms"][0]["gripper_opening"] for row in observations]
    np.testing.assert_allclose(sorted(found), sorted(openings))
    print(f"{steps} control steps, {len(rows)} entities that change")


def scalars(batch):
    (name,) = [name for name in batch.schema.names if name.startswith("Scalars:")]
    return [value[0] for value in batch[name].to_pylist()]


def topic(run, name):
    """The rows of a topic, compacted or not."""
    path = run / "episodes/000" / name
    if path.with_suffix(".parquet").exists():
        return pq.read_table(path.with_suffix(".parquet")).to_pylist()
    with pa.ipc.open_stream(path.with_suffix(".arrows")) as reader:
        return reader.read_all().to_pylist()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
