"""The table of a parity run, one line a suite.

table.py ROWS.jsonl
"""

import json
import sys
from pathlib import Path

HEAD = """\
| suite | tasks | model | resets | control steps | apart at 100, no contact | predicates | successes | pictures |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def of(rows: list[dict]) -> str:
    suites: dict[str, list[dict]] = {}
    for row in rows:
        suites.setdefault(row["suite"], []).append(row)
    lines = [line(f"`{suite}`", suites[suite]) for suite in suites]
    return "\n".join([HEAD, *lines, line("**all**", rows)])


def line(name: str, rows: list[dict]) -> str:
    """Equal ones of how many: equal bits, names, verdicts, steps of success, pixels."""
    whole = [row for row in rows if "error" not in row]
    runs = [run for row in whole for run in row["runs"]]
    steps = sum(run["steps"] for run in runs)
    solved = [run for run in runs if run["success"][0] is not None]
    pictures = [picture for row in whole for picture in row["pictures"]]
    free = [
        run["apart"]["100"][1]
        for run in runs
        if run["what"] == "wander" and run["touches"] is None and "100" in run["apart"]
    ]
    cells = [
        name,
        str(len(rows)),
        share(len(rows), sum(not row["model"] and not row["facts"] for row in whole)),
        share(2 * len(rows), 2 * len(whole) - sum(len(seeds(row)) for row in whole)),
        share(steps, sum(run["equal_steps"] for run in runs)),
        f"{max(free):.0e}" if free and max(free) else "0",
        share(steps, steps - sum(len(run["verdicts"]) for run in runs)),
        share(len(solved), sum(run["success"][0] == run["success"][1] for run in solved)),
        share(len(pictures), sum(same(picture) for picture in pictures)),
    ]
    return f"| {' | '.join(cells)} |"


def share(count: int, equal: int) -> str:
    return f"{equal:,}" if equal == count else f"**{equal:,}** of {count:,}"


def seeds(row: dict) -> set[str]:
    return {what.split(":")[0] for what in row["resets"]}


def same(picture: dict) -> bool:
    return picture["color"] == picture["depth"] == picture["instances"] == 0


if __name__ == "__main__":
    print(of([json.loads(text) for text in Path(sys.argv[1]).read_text().splitlines()]))
