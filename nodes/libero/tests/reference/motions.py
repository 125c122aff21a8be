"""What the reference is made to do: seeded random motions, scripted ones, and edited scenes.

Every action is rounded to three decimals, every edit to six.
"""

import numpy as np
from reference import CLOSE, OPEN, Reference

POSITION_SCALE = 0.05
SETTLE = 10

# Where a thing's rim is, seen from its origin: along y, and up. Others are taken in the middle.
RIMS = {
    "akita_black_bowl": (-0.05, 0.035),
    "white_bowl": (-0.05, 0.035),
    "glazed_rim_porcelain_ramekin": (-0.04, 0.035),
    "plate": (-0.07, 0.025),
    "porcelain_mug": (-0.04, 0.06),
    "red_coffee_mug": (-0.04, 0.06),
    "white_yellow_mug": (-0.04, 0.06),
    "chefmate_8_frypan": (0.0, 0.03),
    "moka_pot": (0.0, 0.06),
}
MIDDLE = (0.0, 0.01)


def wander(reference: Reference, steps: int, seed: int):
    """Yields random motions and rotations about the start, high enough to touch nothing."""
    rng = np.random.RandomState(seed)
    home = eef(reference) + [0.0, 0.0, 0.08]
    action = np.zeros(7)
    for step in range(steps):
        if step % 4 == 0:
            action = rng.uniform(-1.2, 1.2, 7)
            action[:3] = 0.5 * action[:3] + (home - eef(reference)) / POSITION_SCALE * 0.3
            action[3:6] *= 0.4
            # A third moves without turning, which keeps the goal's orientation.
            if (step // 4) % 3 == 0:
                action[3:6] = 0.0
            action[6] = rng.choice([-1.0, 0.0, 1.0])
        yield rounded(action)


def script(reference: Reference):
    """Yields the motion that fits the goal: take and put, or push; first things come to rest."""
    yield from hold(OPEN, SETTLE)
    for predicate in reference.goal:
        if predicate[0] in ("on", "in"):
            yield from pick(reference, predicate[1], predicate[2])
            return
    yield from push(reference, reference.goal[0][1])


def pick(reference: Reference, thing: str, target: str):
    """Yields actions that take a thing and put it onto or into another."""
    rim, up = RIMS.get(category(reference, thing), MIDDLE)
    grasp = body(reference, thing) + [0.0, rim, up]
    place = place_of(reference, target) + [0.0, rim, 0.0]

    yield from go(reference, grasp + [0, 0, 0.12], OPEN, tolerance=0.015)
    yield from go(reference, grasp, OPEN)
    yield from hold(CLOSE, 12)
    yield from go(reference, grasp + [0, 0, 0.15], CLOSE, tolerance=0.02)
    yield from go(reference, place + [0, 0, 0.2], CLOSE, tolerance=0.02)
    yield from go(reference, place + [0, 0, 0.09], CLOSE, tolerance=0.015)
    yield from hold(OPEN, 12)
    yield from go(reference, place + [0, 0, 0.25], OPEN, tolerance=0.03)


def push(reference: Reference, name: str):
    """Yields actions that run closed fingers into a fixture's moving part, to and fro."""
    inner = reference.env.env
    site = inner.object_sites_dict.get(name)
    joints = (site and site.joints) or inner.get_object(name).joints
    joint = inner.sim.model.joint_name2id(joints[0])
    part = np.array(reference.data.geom_xpos[moved_geom(reference, joint)])
    side = part + [0.0, 0.1, 0.02]
    yield from go(reference, side + [0.0, 0.0, 0.15], CLOSE, tolerance=0.03)
    yield from go(reference, side, CLOSE, tolerance=0.03, most=20)
    yield from go(reference, part - [0.0, 0.08, 0.0], CLOSE, tolerance=0.03, most=30)
    yield from go(reference, part + [-0.1, -0.1, 0.15], CLOSE, tolerance=0.03, most=20)
    yield from go(reference, part + [0.05, 0.0, 0.0], CLOSE, tolerance=0.03, most=30)


def moved_geom(reference: Reference, joint: int) -> int:
    """The last geom of the body that a joint moves."""
    moved = int(reference.model.jnt_bodyid[joint])
    geoms = np.flatnonzero(reference.model.geom_bodyid == moved)
    return int(geoms[-1]) if len(geoms) else 0


def go(reference: Reference, target, grip, tolerance=0.01, most=40):
    for _ in range(most):
        error = np.asarray(target) - eef(reference)
        if np.linalg.norm(error) < tolerance:
            return
        yield rounded([*np.clip(2.0 * error / POSITION_SCALE, -1, 1), 0.0, 0.0, 0.0, grip])


def hold(grip, steps):
    for _ in range(steps):
        yield [0.0] * 6 + [grip]


def edits(reference: Reference, rng) -> list[tuple[str, int, float]]:
    """Positions and velocities that bring each goal predicate near to holding."""
    found = []
    for kind, *names in reference.goal:
        if kind in ("on", "in"):
            found += beside(reference, kind, *names, rng)
        else:
            found += near_threshold(reference, names[0], rng)
    return [(array, index, round(float(value), 6)) for array, index, value in found]


def beside(reference: Reference, kind: str, thing: str, target: str, rng):
    inner = reference.env.env
    site = inner.object_sites_dict.get(target)
    centre = place_of(reference, target)
    if site is None:
        spread = np.array([0.025, 0.025, 0.02])
        centre = centre + [0.0, 0.0, 0.03]
    else:
        matrix = np.array(inner.sim.data.get_site_xmat(target))
        spread = np.abs(matrix @ np.array(site.size))
        if kind == "on":
            centre = centre + [0.0, 0.0, spread[2] + 0.03]
            spread[2] = 0.04
    where = centre + rng.uniform(-1.0, 1.0, 3) * spread * rng.choice([0.3, 1.1])
    joints = [inner.sim.model.joint_name2id(name) for name in inner.get_object(thing).joints]
    free = [joint for joint in joints if reference.model.jnt_type[joint] == 0]
    if not free:  # a fixture
        return
    joint = free[-1]
    position = int(reference.model.jnt_qposadr[joint])
    velocity = int(reference.model.jnt_dofadr[joint])
    yield from (("qpos", position + axis, where[axis]) for axis in range(3))
    # Falling or rising: the predicate begins or ends to hold in the middle of a step.
    yield "qvel", velocity + 2, rng.uniform(-0.5, 0.3)


def near_threshold(reference: Reference, name: str, rng):
    inner = reference.env.env
    site = inner.object_sites_dict.get(name)
    owner = inner.get_object(site.parent_name if site else name)
    ranges = owner.object_properties["articulation"]
    limits = [value for key in ranges for value in ranges[key]]
    for joint in (site.joints if site else owner.joints) or []:
        number = inner.sim.model.joint_name2id(joint)
        away = rng.uniform(-0.03, 0.03)
        yield "qpos", int(reference.model.jnt_qposadr[number]), rng.choice(limits) + away
        # Towards the threshold, to cross it after some substeps.
        yield "qvel", int(reference.model.jnt_dofadr[number]), -away * rng.uniform(2.0, 30.0)


def place_of(reference: Reference, target: str) -> np.ndarray:
    if target in reference.env.env.obj_body_id:
        return body(reference, target)
    return np.array(reference.env.sim.data.get_site_xpos(target))


def category(reference: Reference, name: str) -> str:
    groups = reference.env.env.parsed_problem["objects"].items()
    return next((kind for kind, things in groups if name in things), "")


def body(reference: Reference, name: str) -> np.ndarray:
    return np.array(reference.data.xpos[reference.env.env.obj_body_id[name]])


def eef(reference: Reference) -> np.ndarray:
    return np.array(reference.data.site_xpos[reference.env.robots[0].eef_site_id])


def rounded(action) -> list[float]:
    return [round(float(value), 3) for value in action]
