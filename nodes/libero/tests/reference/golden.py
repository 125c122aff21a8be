"""Writes the golden values that the Rust tests read.

golden.py --data DIR > ../golden/scenes.json
"""

import argparse
import json
from pathlib import Path

import reference

# One of each workspace, with drawers that start open, things in and on fixtures, and a stove.
SCENES = [
    ("libero_spatial", 0),
    ("libero_spatial", 4),
    ("libero_spatial_swap", 7),
    ("libero_object", 2),
    ("libero_goal_task", 3),
    ("libero_10", 0),
    ("libero_10", 2),
    ("libero_10", 5),
]
SEEDS = [0, 1, 53]
MODEL_FIELDS = [
    "body_mass",
    "body_inertia",
    "body_ipos",
    "geom_friction",
    "dof_damping",
    "dof_armature",
    "jnt_range",
]


def exact(value):
    """Floats as text: Rust's JSON reader may miss the last bit of a number."""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    return [exact(item) for item in value] if isinstance(value, list) else value


def scene(suite: str, task: int) -> dict:
    python = reference.Reference(suite, task)
    try:
        resets = []
        for seed in SEEDS:
            reset = python.reset(seed)
            resets.append({key: reset[key] for key in ("seed", "init_state", "fixtures", "qpos")})
        model = python.model
        things = python.things()
        for thing in things.values():
            thing["contact_geoms"] = len(thing["contact_geoms"])
        return {
            "suite": suite,
            "task": task,
            "name": python.task.name,
            "name_instruction": python.task.language,
            "instruction": " ".join(python.env.env.parsed_problem["language_instruction"]),
            "sizes": {
                size: getattr(model, size)
                for size in ("nq", "nv", "nu", "nbody", "ngeom", "nsite", "nmesh")
            },
            "names": {
                kind: reference.names(model)[kind] for kind in ("joint", "actuator", "camera")
            },
            "things": things,
            "regions": python.regions(),
            "sums": {field: float(getattr(model, field).sum()) for field in MODEL_FIELDS},
            "resets": resets,
        }
    finally:
        python.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    args = parser.parse_args()
    reference.use_data(args.data.resolve())
    scenes = [json.dumps(exact(scene(*which))) for which in SCENES]
    print("[\n" + ",\n".join(scenes) + "\n]")


if __name__ == "__main__":
    main()
