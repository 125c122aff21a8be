"""Times the cell's numpy against CPython's numpy side by side, and prints the table of docs/benchmarks.md.

    ./rua cargo build --release -p ruaflow-numpy --example python
    .venv/bin/python benches/numpy_speed.py [--runs 7]

Nothing else should run meanwhile. A test never looks at these numbers.
"""

import argparse
import json
import math
import os
import subprocess
import tempfile
from pathlib import Path

HOME = Path(os.environ.get("RUAFLOW_HOME", Path.home() / ".cache/ruaflow"))
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HOME / "target"))

# An image of 1024 x 1024 x 3 as the cells see it: float64, a float32 map, and bytes.
SETUP = """
import numpy as np
rng = np.random.default_rng(0)
big = rng.normal(size=(1024, 1024, 3))
world = big.astype(np.float32)
image = rng.integers(0, 256, size=(1024, 1024, 3)).astype(np.uint8)
mask = world[:, :, 2] > 0.5
flat = big.ravel()
small = np.array([0.1, 0.2, 0.3])
"""

CASES = [
    ("chain, float64", "big * 2.0 + 1.0"),
    ("chain, float32", "(world - world.mean()) / 3.0"),
    ("chain, uint8 to float", "image / 255.0"),
    ("divide bytes", "image // 2"),
    ("float to bytes", "world.astype(np.uint8)"),
    ("in place", "world += 1.0"),
    ("sqrt of a sum of squares", "np.sqrt((world ** 2).sum(axis=2))"),
    ("sin", "np.sin(world)"),
    ("exp", "np.exp(big)"),
    ("row by broadcast", "world - small"),
    ("clip", "np.clip(world, 0, 1)"),
    ("compare with a number", "world > 0.5"),
    ("compare channels", "image[:, :, 0] > image[:, :, 1] * 1.5"),
    ("mask and mask", "(image[..., 0] > 120) & (image[..., 1] < 80)"),
    ("isfinite, all over channels", "np.isfinite(world).all(axis=2)"),
    ("where with two values", "np.where(world > 0, world, 0)"),
    ("points under a mask", "world[mask]"),
    ("assign under a mask", "world[mask] = 0.25"),
    ("indices of a mask", "np.nonzero(mask)"),
    ("rows and columns", "world[rows, columns]"),
    ("sum", "big.sum()"),
    ("mean, float32", "world.mean()"),
    ("mean over pixels", "world.mean(axis=(0, 1))"),
    ("mean over channels", "big.mean(axis=2)"),
    ("std", "big.std()"),
    ("min and max", "(world.min(), world.max())"),
    ("min over pixels", "world.reshape(-1, 3).min(axis=0)"),
    ("argmax", "big.argmax()"),
    ("cumsum", "flat.cumsum()"),
    ("norm over channels", "np.linalg.norm(world, axis=2)"),
    ("norm of all", "np.linalg.norm(big)"),
    ("median", "np.median(big)"),
    ("median of bytes", "np.median(image)"),
    ("median over channels", "np.median(world, axis=2)"),
    ("median of bytes over channels", "np.median(image, axis=2)"),
    ("median over pixels", "np.median(world.reshape(-1, 3), axis=0)"),
    ("nanmedian over pixels", "np.nanmedian(world.reshape(-1, 3), axis=0)"),
    ("percentiles", "np.percentile(big, [1, 50, 99])"),
    ("percentiles of bytes", "np.percentile(image, [5, 50, 95])"),
    ("sort a vector", "np.sort(flat)"),
    ("sort a vector, float32", "np.sort(world.ravel())"),
    ("sort bytes", "np.sort(image.ravel())"),
    ("sort along channels", "np.sort(big, axis=2)"),
    ("argsort", "np.argsort(flat[:1000000])"),
    ("argsort along channels", "np.argsort(big, axis=2)"),
    ("partition", "np.partition(flat, 1000)"),
    ("unique", "np.unique(world)"),
    ("unique of bytes", "np.unique(image)"),
    ("unique with counts", "np.unique(image, return_counts=True)"),
    ("unique rows", "np.unique(image.reshape(-1, 3)[:100000], axis=0)"),
    ("count bytes", "np.bincount(image.ravel())"),
    ("histogram", "np.histogram(flat, bins=50)"),
    ("histogram of bytes", "np.histogram(image, bins=256, range=(0, 256))"),
    ("interpolate", "np.interp(flat, [-1, 0, 1], [3, 2, 5])"),
    ("differences", "np.diff(flat)"),
    ("copy", "big.copy()"),
    ("transpose and copy", "np.ascontiguousarray(world.transpose(2, 0, 1))"),
    ("astype", "image.astype(np.float32)"),
    ("concatenate", "np.concatenate([world, world])"),
    ("stack channels", "np.stack([world[..., 0], world[..., 1]], axis=-1)"),
    ("matrix of points", "world.reshape(-1, 3) @ turn"),
    ("scatter of points", "big.reshape(-1, 3).T @ big.reshape(-1, 3)"),
    ("a small sum", "small + small"),
    ("a small norm", "np.linalg.norm(small)"),
    ("an element", "small[1]"),
]

TIMER = """
import json, time
rows, columns = np.nonzero(mask)
turn = np.eye(3, dtype=np.float32)
def measure(code, runs):
    scope = dict(globals())
    exec("def run():\\n    global world\\n    " + code, scope)
    run = scope["run"]
    best = None
    run()
    start = time.perf_counter()
    run()
    inner = max(1, int(0.002 / max(time.perf_counter() - start, 1e-7)))
    for _ in range(runs):
        start = time.perf_counter()
        for _ in range(inner):
            run()
        took = (time.perf_counter() - start) / inner
        best = took if best is None else min(best, took)
    return best
"""


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--runs", type=int, default=7)
    runs = options.parse_args().runs
    codes = [code for _, code in CASES]
    script = (
        f"{SETUP}{TIMER}\n_result = json.dumps([measure(code, {runs}) for code in {codes!r}])\n"
    )

    # One core for either: OpenBLAS would take all there are.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    scope = {}
    exec(script, scope)
    theirs = json.loads(scope["_result"])
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(script + "_result\n")
        file.flush()
        binary = TARGET / "release/examples/python"
        output = subprocess.run([binary, file.name], check=True, capture_output=True, text=True)
    ours = json.loads(output.stdout)

    print("| what | expression | numpy | here | ratio |")
    print("| --- | --- | --- | --- | --- |")
    logs = []
    for (name, code), a, b in zip(CASES, theirs, ours, strict=True):
        logs.append(math.log(b / a))
        print(f"| {name} | `{code}` | {human(a)} | {human(b)} | {b / a:.2f} |")
    print(f"\nGeometric mean of the ratios: {math.exp(sum(logs) / len(logs)):.2f}")


def human(seconds):
    for unit, size in (("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


if __name__ == "__main__":
    main()
