"""Compares the Rust scenes with the Python reference, bit for bit.

    compare.py --data DIR --dump PATH/dump_scene [--suite S ...] [--seeds 0 53] [--cache DIR]

`dump_scene` is this crate's example. Each task is composed and compiled by both;
every array of the two models is compared, then each seed's reset. One line of
JSON a task. Without `--dump` only the reference's side is made, into `--cache`.
"""

import argparse
import contextlib
import hashlib
import io
import json
import subprocess
import tempfile
import time
from pathlib import Path

import reference


def digests(model, **instead) -> dict:
    """Every array of a model as a short hash, some of them replaced."""
    return {
        name: f"{array.dtype}{list(array.shape)}{hashlib.sha256(array.tobytes()).hexdigest()[:16]}"
        for name, array in (reference.array_fields(model) | instead).items()
        # A number that MuJoCo gives each compilation of its own.
        if name != "signature"
    }


def reference_side(args, suite: str, task: int) -> dict:
    """What the reference makes of a task, from the cache when it is there."""
    cached = args.cache and args.cache / f"{suite}.{task}.json"
    if cached and cached.is_file():
        side = json.loads(cached.read_text())
        if [reset["seed"] for reset in side["resets"]] == args.seeds:
            return side
    python = reference.Reference(suite, task)
    try:
        side = {"resets": [python.reset(seed) for seed in args.seeds]}
        # The model has fixtures where the last seed put them, as the Rust dump has.
        side["fields"] = digests(python.model, site_rgba=python.placed_site_rgba)
        side["names"] = reference.names(python.model)
        side["things"] = python.things()
        side["regions"] = python.regions()
        side["instruction"] = " ".join(python.env.env.parsed_problem["language_instruction"])
    finally:
        python.close()
    if cached:
        args.cache.mkdir(parents=True, exist_ok=True)
        cached.write_text(json.dumps(side))
    return side


def compare_task(args, suite: str, task: int, folder: Path) -> dict:
    import mujoco
    import numpy as np

    started = time.monotonic()
    theirs = reference_side(args, suite, task)
    result = {"suite": suite, "task": task}
    if not args.dump:
        return result | {"seconds": round(time.monotonic() - started, 1)}
    mjb = folder / "scene.mjb"
    try:
        command = [args.dump, str(args.data), suite, str(task), str(mjb), *map(str, args.seeds)]
        ours = json.loads(
            subprocess.run(command, check=True, capture_output=True, text=True).stdout
        )
        fields = digests(mujoco.MjModel.from_binary_path(str(mjb)))
    finally:
        mjb.unlink(missing_ok=True)
    wrong = []
    for mine, yours in zip(ours["resets"], theirs["resets"], strict=True):
        for key, value in yours.items():
            if mine[key] == value:
                continue
            gap = ""
            if isinstance(value, list) and len(value) == len(mine[key]):
                gap = f"~{np.abs(np.array(mine[key]) - np.array(value)).max():.1e}"
            wrong.append(f"{yours['seed']}:{key}{gap}")
    return result | {
        "fields": len(theirs["fields"]),
        "differing_fields": sorted(
            key for key, value in theirs["fields"].items() if fields.get(key) != value
        ),
        "differing_facts": [
            key for key in ("names", "things", "regions", "instruction") if ours[key] != theirs[key]
        ],
        "differing_resets": wrong,
        "attempts": [reset["attempts"] for reset in ours["resets"]],
        "load_s": ours["load_s"],
        "visual_s": ours["visual_s"],
    }


def tasks(suite: str) -> int:
    with contextlib.redirect_stdout(io.StringIO()):
        from libero.libero import benchmark

        return benchmark.get_benchmark(suite)().n_tasks


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--dump")
    parser.add_argument("--suite", nargs="+", default=["libero_spatial"])
    parser.add_argument("--task", nargs="+", type=int)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 53])
    parser.add_argument("--cache", type=Path)
    args = parser.parse_args()
    args.data = args.data.resolve()
    reference.use_data(args.data)

    with tempfile.TemporaryDirectory() as folder:
        for suite in args.suite:
            for task in args.task if args.task is not None else range(tasks(suite)):
                try:
                    result = compare_task(args, suite, task, Path(folder))
                except Exception as error:  # one bad task must not end the sweep
                    detail = getattr(error, "stderr", "") or ""
                    result = {"suite": suite, "task": task, "error": f"{error!r} {detail}".strip()}
                print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
