"""Records tasks of the Python reference, plays them in Rust, and says what differs.

    parity.py --data DIR --play BINARY --out FOLDER [--jobs N] [all | sample | SUITE:TASK ...]

BINARY is this crate's example `parity`. A task that has a row in FOLDER already, younger than
BINARY, is left out, so that a stopped run goes on. The end is a table, and status 1 when
anything differs.
"""

import argparse
import contextlib
import io
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import reference
import table


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--play", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--shard", type=int, help="of these processes, the one that this is")
    parser.add_argument("entries", nargs="*", default=["sample"])
    args = parser.parse_args()
    reference.use_data(args.data.resolve())

    if args.jobs > 1 and args.shard is None:
        same = [sys.executable, *sys.argv]
        shards = [subprocess.Popen([*same, "--shard", str(i)]) for i in range(args.jobs)]
        if any([shard.wait() for shard in shards]):
            raise SystemExit("a process ended early: see above")
    else:
        for suite, task in chosen(args.entries)[args.shard or 0 :: args.jobs]:
            compare(args, suite, task)
    if args.shard is None:
        rows = [read_row(args.out, suite, task) for suite, task in chosen(args.entries)]
        print(table.of(rows))
        raise SystemExit(not all(row.get("equal") for row in rows))


def chosen(entries: list[str]) -> list[tuple[str, int]]:
    if entries == ["all"]:
        return reference.entries()
    if entries == ["sample"]:
        from golden import SAMPLE

        entries = SAMPLE
    split = (entry.split(":") for entry in entries)
    return [(suite, int(task)) for suite, task in split]


def compare(args, suite: str, task: int) -> None:
    import recording

    row = row_file(args.out, suite, task)
    if row.is_file() and row.stat().st_mtime > args.play.stat().st_mtime:
        return
    started = time.monotonic()
    folder = args.out / f"{suite}.{task}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            recorded = recording.record(suite, task, pictures=folder)
        (folder / "recording.json").write_text(json.dumps(recorded) + "\n")
        played = subprocess.run([args.play, folder], capture_output=True, text=True, check=True)
        found = json.loads(played.stdout)
    except (Exception, subprocess.CalledProcessError) as error:  # one must not end the rest
        detail = getattr(error, "stderr", None) or ""
        found = {"suite": suite, "task": task, "error": f"{error!r} {detail}".strip()}
    row.write_text(json.dumps(found) + "\n")
    verdict = "equal" if found.get("equal") else "differs: " + json.dumps(found)
    print(f"{suite} {task}: {verdict}, {time.monotonic() - started:.0f} s", flush=True)
    if found.get("equal"):
        shutil.rmtree(folder)


def row_file(out: Path, suite: str, task: int) -> Path:
    return out / f"{suite}.{task}.row.json"


def read_row(out: Path, suite: str, task: int) -> dict:
    return json.loads(row_file(out, suite, task).read_text())


if __name__ == "__main__":
    main()
