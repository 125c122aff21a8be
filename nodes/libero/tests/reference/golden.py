"""Records the sample of tasks that the Rust tests are run against, into `../golden`.

    golden.py --data DIR [SUITE:TASK ...]

Between them the tasks have every workspace, predicate, category and perturbation that the
complete suites know. `thin` leaves out what a test does not need.
"""

import argparse
import contextlib
import io
import json
from pathlib import Path

import reference

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
SAMPLE = """
    libero_spatial:0 libero_object:0 libero_goal:0 libero_10:9
    libero_90:23 libero_90:35 libero_90:40 libero_90:60
    libero_10_lan:5 libero_10_swap:8 libero_goal_task:7 libero_spatial_object:0
    libero_goal_object:1 libero_goal_object:2 libero_goal_object:9
    libero_object_object:2 libero_object_object:3 libero_object_object:4 libero_object_object:7
    libero_10_object:0 libero_10_object:1 libero_10_object:2 libero_10_object:6
    libero_10_with_mug:0 libero_spatial_with_yellow_book:4 libero_goal_with_milk:0
    libero_mine:0 libero_object_two_normal_episodes:0
    libero_study_table:0 libero_study_table:2 libero_study_table:4
""".split()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("entries", nargs="*", metavar="SUITE:TASK", default=SAMPLE)
    args = parser.parse_args()
    reference.use_data(args.data.resolve())
    import recording

    for entry in args.entries:
        suite, task = entry.split(":")
        with contextlib.redirect_stdout(io.StringIO()):
            recorded = recording.thin(recording.record(suite, int(task)))
        text = json.dumps(recorded, separators=(",", ":"))
        (GOLDEN / f"{suite}.{task}.json").write_text(text + "\n")
        print(entry, len(text), flush=True)


if __name__ == "__main__":
    main()
