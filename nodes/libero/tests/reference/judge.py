"""Records what the Python reference's predicates say in edited scenes.

For each task, things are put near where the goal wants them and joints near
their thresholds, one control step is made, and each goal predicate's verdict is
written down, so that the Rust judge can be compared with it:

    python judge.py --out ../golden/verdicts.json
"""

import argparse
import json
import sys

import numpy as np

from record import OPEN, make_env

# One or two tasks of every kind of predicate, support and articulation.
TASKS = [
    ("libero_spatial", 0),  # on an object
    ("libero_object_swap", 2),  # in a basket
    ("libero_goal", 0),  # open a drawer
    ("libero_goal", 1),  # on a stove's region
    ("libero_goal", 4),  # on a cabinet's top
    ("libero_goal", 7),  # turn on a stove
    ("libero_goal", 9),  # on a rack
    ("libero_10", 2),  # turn on, and on
    ("libero_10", 3),  # in a drawer, and close it
    ("libero_10", 5),  # in a caddy
    ("libero_10", 9),  # in a microwave, and close it
    ("libero_90", 32),
    ("libero_90", 41),
]


def address(env, joint):
    found = env.sim.model.get_joint_qpos_addr(joint)
    return found[0] if isinstance(found, tuple) else found


def edits(env, predicate, rng):
    """Yields (qpos index, value) that bring a predicate near to holding."""
    kind, *names = predicate
    if kind in ("on", "in"):
        thing, target = names
        ids = env.env.obj_body_id
        if target in ids:
            centre = np.array(env.sim.data.body_xpos[ids[target]])
            spread = np.array([0.025, 0.025, 0.02])
            centre[2] += 0.01
        else:
            centre = np.array(env.sim.data.get_site_xpos(target))
            matrix = np.array(env.sim.data.get_site_xmat(target))
            spread = np.abs(matrix @ np.array(env.env.object_sites_dict[target].size))
            if kind == "on":
                centre[2] += spread[2] + 0.02
                spread[2] = 0.04
        at = int(address(env, env.env.get_object(thing).joints[-1]))
        spread *= rng.choice([0.3, 1.1])
        where = centre + rng.uniform(-1.0, 1.0, 3) * spread
        yield from zip(range(at, at + 3), where.tolist(), strict=True)
    else:
        name = names[0]
        site = env.env.object_sites_dict.get(name)
        owner = env.env.get_object(site.parent_name if site else name)
        ranges = owner.object_properties["articulation"]
        limits = [v for key in ranges for v in ranges[key]]
        joints = site.joints if site else owner.joints
        for joint in joints:
            value = rng.choice(limits) + rng.uniform(-0.02, 0.02)
            yield int(address(env, joint)), float(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()

    records = []
    for suite, task in TASKS:
        env = make_env(suite, task, seed=0)
        goal = env.env.parsed_problem["goal_state"]
        start = env.sim.get_state()
        rng = np.random.RandomState(task)
        cases = []
        for _ in range(args.cases):
            env.sim.set_state(start)
            env.sim.forward()
            changed = [edit for predicate in goal for edit in edits(env, predicate, rng)]
            for index, value in changed:
                env.sim.data.qpos[index] = value
            env.sim.forward()
            env.step([0.0] * 6 + [OPEN])
            verdicts = [bool(env.env._eval_predicate(predicate)) for predicate in goal]
            shown = [
                bool(env.sim.model.site_rgba[env.sim.model.site_name2id(site)][3] > 0)
                # The list grows with every load of the model.
                for name in dict.fromkeys(env.env.visualization_sites_list)
                for site, _ in env.env.get_object(name).object_properties["vis_site_names"].values()
            ]
            cases.append(
                {"edits": [list(edit) for edit in changed], "verdicts": verdicts, "shown": shown}
            )
        print(suite, task, goal, [case["verdicts"] for case in cases], file=sys.stderr)
        records.append({"suite": suite, "task": task, "goal": goal, "cases": cases})
    with open(args.out, "w") as file:
        file.write(
            "[\n" + ",\n".join(json.dumps(r, separators=(",", ":")) for r in records) + "\n]\n"
        )


if __name__ == "__main__":
    main()
