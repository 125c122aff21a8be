"""Records tasks of the reference, one folder each; goes on where it stopped.

record_all.py --data DIR --out FOLDER [--shard 0/1] [SUITE:TASK ...]
"""

import argparse
import contextlib
import io
import json
import os
import shutil
import time
from pathlib import Path

import reference


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--shard", default="0/1", help="of how many processes this is which")
    parser.add_argument("entries", nargs="*", metavar="SUITE:TASK")
    args = parser.parse_args()
    reference.use_data(args.data.resolve())
    import recording

    number, shards = map(int, args.shard.split("/"))
    named = [(suite, int(task)) for suite, task in (entry.split(":") for entry in args.entries)]
    for suite, task in (named or reference.entries())[number::shards]:
        folder = args.out / f"{suite}.{task}"
        if folder.is_dir():
            continue
        started = time.monotonic()
        new = folder.with_suffix(f".{task}.new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                recorded = recording.record(suite, task, pictures=new)
        except Exception as error:  # one bad task must not end the sweep
            print(f"{suite} {task}: {error!r}", flush=True)
            continue
        (new / "recording.json").write_text(json.dumps(recorded, separators=(",", ":")) + "\n")
        os.replace(new, folder)
        print(f"{suite} {task}: {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
