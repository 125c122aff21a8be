"""Prints the cases and what CPython with numpy makes of them, one JSON object a line.

usage: reference.py SEED COUNT
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import cases  # noqa: E402
import describe  # noqa: E402


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    snippets = (pathlib.Path(__file__).parent / "snippets.txt").read_text()
    written = [(code.strip("\n"), "written") for code in snippets.split("\n---\n")]
    for code, kind in written + list(cases.generate(seed, count)):
        outcome = describe.run(code)
        print(json.dumps({"code": code, "kind": kind, "expected": outcome}))


if __name__ == "__main__":
    main()
