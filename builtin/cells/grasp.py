# Grasps from geometry. The fingers open along the line at right angles to the yaw:
# at yaw 0 along y. A grasp is (x, y, z, yaw).
FINGERS = 0.078  # metres the fingers open
PALM = 0.024  # metres from the grasp's centre up to where the palm begins


def yaw_of(direction):
    """The yaw that opens the fingers along a direction in the plane, the nearest to home."""
    return (direction - math.pi / 2 + math.pi / 2) % math.pi - math.pi / 2


def crowded(points, xyz, yaw, near=0.025):
    """How many points an open hand would meet there; its fingers begin at a distance."""
    c, s = math.cos(yaw + math.pi / 2), math.sin(yaw + math.pi / 2)
    offset = points - np.array(xyz)
    across = abs(offset[:, 0] * c + offset[:, 1] * s)
    beside = abs(offset[:, 1] * c - offset[:, 0] * s)
    up = offset[:, 2]
    fingers = (across > near) & (across < 0.062) & (beside < 0.017) & (up > -0.004)
    palm = (across < 0.11) & (beside < 0.036) & (up > PALM)
    return int((fingers & (up < 0.13) | palm).sum())


def grasps(thing):
    """Ways to take a thing, the best first."""
    if thing.kind in ("hollow", "plate"):
        ways = rim_grasps(thing)
    elif thing.kind == "pan":
        ways = handle_grasps(thing)
    else:
        ways = body_grasps(thing)
    cost = [
        crowded(thing.around, way[:3], way[3])
        + crowded(thing.points, way[:3], way[3], near=0.037)
        + 12 * extra
        + 1500 * max(0.0, way[2] + 0.02 - ceiling(way))
        for way, extra in ways
    ]
    return apart([ways[k][0] for k in sorted(range(len(ways)), key=lambda k: cost[k])])


def apart(ways):
    """The same ways, the first few unlike each other: what failed once fails close by, too."""
    chosen = []
    for way in ways:
        if len(chosen) < 4 and all(
            np.linalg.norm(np.array(way[:2]) - np.array(other[:2])) > 0.03
            or abs(way[3] - other[3]) > 0.5
            for other in chosen
        ):
            chosen.append(way)
    return chosen + [way for way in ways if way not in chosen]


def rim_grasps(thing):
    """A finger inside, a finger outside, at points around the rim."""
    centre, rim = thing.centre, thing.radius
    handle = thing.points[np.linalg.norm(thing.points[:, :2] - centre, axis=1) > 1.25 * rim]
    handles = np.arctan2(handle[:, 1] - centre[1], handle[:, 0] - centre[0])
    plate = thing.kind == "plate"
    depth = 0.008 if plate else min(0.018, 0.45 * thing.height)
    reach = rim - (0.014 if plate else 0.004)
    lowest = thing.low + 0.008
    ways = []
    for k in range(16):
        angle = k * math.pi / 8
        yaw = yaw_of(angle)
        way = np.array([math.cos(angle), math.sin(angle)])
        x, y = centre + reach * way
        # A tilted rim is not everywhere as high; where it is hidden it is a guess.
        near = np.linalg.norm(thing.points[:, :2] - (centre + rim * way), axis=1) < 0.014
        seen = near.sum() > 5
        top = float(np.percentile(thing.points[near, 2], 97)) if seen else thing.top
        # Far turns are slow, and a handle is in the way.
        extra = abs(yaw) + (10 if (np.cos(handles - angle) > 0.8).sum() > 8 else 0)
        extra += 0 if seen and top > thing.top - 0.02 else 3
        ways.append(((x, y, max(top - depth, lowest), yaw), extra))
    return ways


def handle_grasps(thing):
    """Across a pan's handle, near the middle of it."""
    middle, _, turn = rectangle(thing.handle[:, :2])
    along = np.array([-math.sin(turn), math.cos(turn)])
    z = float(np.percentile(thing.handle[:, 2], 90)) - 0.012
    ways = []
    for shift in (0.0, 0.02, -0.02):
        x, y = middle + shift * along
        ways.append(((x, y, z, yaw_of(turn)), abs(yaw_of(turn)) + 60 * abs(shift)))
    return ways


def body_grasps(thing):
    """From above, across the short side; across the long one if that fits, too."""
    z = thing.top - 0.020 if thing.kind == "bottle" else max(thing.low + 0.011, thing.top - 0.021)
    ways = []
    for direction, width, length in (
        (thing.turn, thing.short, thing.long),
        (thing.turn + math.pi / 2, thing.long, thing.short),
    ):
        if thing.kind != "bottle" and width > FINGERS:
            continue
        yaw = yaw_of(direction)
        # What nearly fills the fingers is hit by them when the wrist is a little off.
        tight = 3.0 if width > 0.068 and thing.kind != "bottle" else 0.0
        along = np.array([-math.sin(direction), math.cos(direction)])
        box = thing.kind == "body"
        for shift in (0.0, 0.018, -0.018) if box and length > 0.06 else (0.0,):
            # A narrow box turns into the fingers that close on it.
            for askew in (0.0, 0.4, -0.4) if box and width < 0.05 else (0.0,):
                x, y = thing.centre + shift * along
                extra = abs(yaw) + tight + 60 * abs(shift) + 2 * abs(askew)
                ways.append(((x, y, z, yaw_of(direction + askew)), extra))
    if thing.kind == "bottle" or thing.short < thing.long < min(1.15 * thing.short, FINGERS):
        ways += [((*thing.centre, z, yaw), 1 + abs(yaw)) for yaw in (0.0, 0.6, -0.6)]
    return ways


def from_under(thing, gripper):
    """Drags a thing that something hangs over into the open."""
    x, y, z = robo.state().eef_pos
    near = np.linalg.norm(thing.around[:, :2] - thing.centre, axis=1) < thing.long / 2 + 0.01
    lid = thing.around[near & (thing.around[:, 2] > thing.top + 0.02)]
    if len(lid) > 8 and not robo.done:
        way = thing.centre - lid[:, :2].mean(axis=0)
        way = 0.10 * way / max(float(np.linalg.norm(way)), 1e-6)
        go([x + way[0], y + way[1], z + 0.003], gripper, clip=0.02, tol=0.02)


def swung(thing, hangs):
    """How far a wide bowl held by its rim reaches below the hand as it is seen now."""
    x, y, z = robo.state().eef_pos
    for one in find_all(thing.name)[0]:
        if np.linalg.norm(one.centre - np.array([x, y])) < 1.8 * thing.radius:
            return max(hangs, z - one.low)
    return hangs


held = None  # what the hand holds, and how


def pick(name, attempt=0):
    """Takes the thing kept under a name by its attempt-th grasp, and lifts it."""
    global held
    thing = things[name]
    ways = grasps(thing)
    if not ways:
        told(held=False, why="wider than the fingers open", sides=[thing.short, thing.long])
        return
    x, y, z, yaw = ways[attempt % len(ways)]
    start = robo.state().eef_pos
    over = tallest(np.vstack([thing.around, thing.points]), start, (x, y), 0.12)
    rise(over + 0.06, robo.OPEN)
    level_hand(robo.OPEN)
    turn_wrist(yaw, robo.OPEN)
    go([x, y, max(z + 0.05, min(max(z + 0.08, over + 0.04), ceiling((x, y))))], robo.OPEN)
    turn_wrist(yaw, robo.OPEN)
    go([x, y, z + 0.05], robo.OPEN, clip=0.04, tol=0.006)
    down = go([x, y, z], robo.OPEN, clip=0.02, tol=0.004, steps=40)
    robo.set_gripper(robo.CLOSE, steps=10)
    closed = robo.state().gripper_opening
    at = robo.state().eef_pos
    from_under(thing, robo.CLOSE)
    # A plate taken by its rim ends up hanging below the hand.
    hanging = thing.kind == "plate"
    # Out of what stands around it, and higher where the arm gets higher.
    out = tallest(thing.around, thing.centre, thing.centre, 0.09) - thing.low + 0.02
    lift = 0.05 + 2 * thing.radius if hanging else 0.10
    lift = max(min(lift, ceiling(at) - at[2]), min(lift, max(out, 0.04)))
    rise(at[2] + lift, robo.CLOSE, tol=0.01)
    opening = robo.state().gripper_opening
    ok = opening > 0.0035
    if ok:
        offset = (np.array(thing.centre) - np.array(at[:2])) * (0.0 if hanging else 1.0)
        hangs = 2 * thing.radius if hanging else at[2] - thing.low
        wide = thing.kind == "hollow" and thing.radius > 0.062 and not robo.done
        below = swung(thing, hangs) if wide else hangs
        held = dict(name=name, offset=offset, hangs=hangs, below=below, thing=thing)
    else:
        robo.release(max_steps=6)
    told(
        held=ok,
        kind=thing.kind,
        grasp=[x, y, z, yaw],
        missed_mm=1000 * down.final_dist_m,
        at=at,
        closed=closed,
        opening=opening,
        ways=len(ways),
    )
