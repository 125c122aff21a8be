"""Runs the examples of a page on the runs in `runs/`, and prints a line of JSON for each.

python examples.py docs/data.md
"""

import contextlib
import io
import json
import re
import sys
from pathlib import Path

import duckdb

BLOCK = re.compile(
    r"^#+ (?P<heading>[^\n]*)$|^```(?P<kind>sql|python)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def main():
    heading = ""
    for found in BLOCK.finditer(Path(sys.argv[1]).read_text()):
        if found["heading"]:
            heading = found["heading"]
            continue
        rows = sql(found["code"]) if found["kind"] == "sql" else python(found["code"])
        print(json.dumps({"heading": heading, "kind": found["kind"], "rows": rows}, default=str))


def sql(code):
    result = duckdb.sql(code)
    return [dict(zip(result.columns, row, strict=True)) for row in result.fetchall()]


def python(code):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "<example>", "exec"), {"__name__": "example"})
    return printed.getvalue().splitlines()


if __name__ == "__main__":
    main()
