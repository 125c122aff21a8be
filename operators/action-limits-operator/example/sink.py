"""Shows what the operator let through and what it refused; fails on anything else."""

from dora import Node

EXPECTED = {
    "action": [[0.5, -1.0, 1.0]],
    "target": [[0.1, 0.0, 0.4]],
    "refused": [
        ["action[1] must be within [-1, 1], got 1.5"],
        ["action must be finite, got NaN"],
        ["z = 1.4 m is outside the workspace [0, 0.9]"],
        ["action: expected numbers of type Float64, got Utf8"],
    ],
}

seen = {name: [] for name in EXPECTED}
for event in Node():
    if event["type"] == "INPUT":
        value = event["value"].to_pylist()
        seen[event["id"]].append(value)
        print(event["id"], value, flush=True)
# Inputs are not ordered among each other.
assert {name: sorted(values) for name, values in seen.items()} == {
    name: sorted(values) for name, values in EXPECTED.items()
}, seen
