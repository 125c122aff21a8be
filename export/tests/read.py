"""Prints what pyarrow finds in a LeRobot dataset, as JSON: read.py DIR."""

import json
import sys
from pathlib import Path

import pyarrow.parquet as pq

root = Path(sys.argv[1])
info = json.loads((root / "meta/info.json").read_text())
stats = json.loads((root / "meta/stats.json").read_text())


def only(folder):
    (path,) = sorted((root / folder).glob("*/*.parquet"))
    return path


data = pq.read_table(only("data"))
tasks = pq.read_table(root / "meta/tasks.parquet")
episodes = pq.read_table(only("meta/episodes"))
videos = {name for name, feature in info["features"].items() if feature["dtype"] == "video"}
image_stats = episodes["stats/observation.images.agentview/mean"][0].as_py()
pandas = json.loads(tasks.schema.metadata[b"pandas"])

print(
    json.dumps(
        {
            "rows": data.num_rows,
            "row_groups": pq.ParquetFile(only("data")).num_row_groups,
            "types": {field.name: str(field.type) for field in data.schema},
            "undescribed": sorted(set(data.column_names) ^ (set(info["features"]) - videos)),
            "without_stats": sorted(set(info["features"]) ^ set(stats)),
            "task_index": pandas["index_columns"],
            "tasks": tasks["task"].to_pylist(),
            "episode_tasks": episodes["tasks"].to_pylist(),
            "image_stats": [len(image_stats), len(image_stats[0]), len(image_stats[0][0])],
        }
    )
)
