# Drawers, knobs and doors, from the shape of what they belong to.
LEVELS = ("bottom", "middle", "top")


class Front:
    """The front of a cabinet: which way it faces, and its handles by level."""

    def __init__(self, thing):
        points = thing.points
        # An open drawer ends a few millimetres below the lid.
        lid = points[abs(points[:, 2] - plateau(thing)[1]) < 0.0025][:, :2]
        _, _, turn = rectangle(lid)
        best = None
        for quarter in range(4):
            way = np.array(
                [math.cos(turn + quarter * math.pi / 2), math.sin(turn + quarter * math.pi / 2)]
            )
            edge = float(np.percentile(lid @ way, 99.5))
            ahead = points[:, :2] @ way > edge + 0.014
            if best is None or ahead.sum() > best[0]:
                best = (ahead.sum(), way, edge, points[ahead])
        _, self.way, self.edge, ahead = best
        self.side = np.array([-self.way[1], self.way[0]])
        self.handles = {}
        for level, name in enumerate(LEVELS):
            low = thing.low + level * thing.height / 3
            near = ahead[(ahead[:, 2] > low) & (ahead[:, 2] < low + thing.height / 3)]
            if len(near) < 8:
                continue
            out = near[:, :2] @ self.way
            bar = near[out > np.percentile(out, 97) - 0.014]
            out = float(np.percentile(bar[:, :2] @ self.way, 95)) - 0.008
            along = bar[:, :2] @ self.side
            middle = out * self.way + (along.min() + along.max()) / 2 * self.side
            height = (bar[:, 2].min() + bar[:, 2].max()) / 2
            self.handles[name] = np.array([*middle, height])

    def open_by(self, level):
        """How far a drawer is out, from its handle: closed ones stand 3 cm before the face."""
        return float(self.handles[level][:2] @ self.way) - self.edge - 0.024


def front_of(words):
    found, why = find_all(words)
    if not found:
        told(found=False, words=words, why=why)
        return None, None
    return found[0], Front(found[0])


def look_into(name, words, level):
    """Keeps the inside of an open drawer under a name."""
    thing, front = front_of(words)
    if thing is None:
        return
    if level not in front.handles or front.open_by(level) < 0.06:
        told(found=False, words=words, why=f"the {level} drawer is not open")
        return
    bar, out = front.handles[level], front.open_by(level)
    inside = thing.points[:, :2] @ front.way
    inside = (inside > front.edge + 0.015) & (inside < front.edge + out - 0.01)
    inside &= thing.points[:, 2] < bar[2]
    thing.kind, thing.top = "box", float(bar[2]) + 0.035
    thing.floor = float(np.median(thing.points[inside, 2])) if inside.sum() > 20 else bar[2] - 0.03
    # From the handle back to the face, less the drawer's own front.
    thing.centre = bar[:2] - (0.03 + out / 2) * front.way
    thing.short, thing.long = out, 0.2
    thing.turn = math.atan2(front.way[1], front.way[0])
    things[name] = thing
    told(found=True, words=words, open_by=out, **thing.facts())


def tilted(front, by):
    """Pitch, yaw and pointing direction of a hand that leans on a front with its thin side.

    It can tilt about the x axis only: towards +y or -y."""
    pitch = -by * float(np.sign(front.way[1])) if abs(front.way[1]) > 0.7 else 0.0
    yaw = yaw_of(math.atan2(front.side[1], front.side[0]))
    return pitch, yaw, np.array([0.0, math.sin(pitch), -math.cos(pitch)])


def upright(height):
    """Up and back to a hand that points straight down."""
    rise(height, robo.OPEN)
    if robo.done:
        return
    robo.rotate_pitch(target_pitch=0.0, gripper=robo.OPEN, max_steps=60, step_clip=0.06)
    turn_wrist(0.0, robo.OPEN)
    level_hand(robo.OPEN)


def lean_on(thing, front, bar, tilt, out):
    """Brings the closed hand before a handle, leaning on the front; where the hand points."""
    pitch, yaw, reach = tilted(front, tilt)
    before = bar + out * np.array([*front.way, 0.0])
    rise(thing.top + 0.08, robo.CLOSE)
    go([before[0], before[1], thing.top + 0.08], robo.CLOSE, yaw)
    turn_wrist(yaw, robo.CLOSE)
    return pitch, yaw, reach


def came_out(words, level, travelled):
    """How far a drawer is out now; by the hand's way where its handle is not seen."""
    if robo.done:
        return travelled
    clear_view()
    thing, front = front_of(words)
    seen = thing is not None and level in front.handles
    return front.open_by(level) if seen else travelled


# Radians that the hand leans by, one try after the other. Pushed in, a handle is level with
# those above it, which a steeper hand passes; far down a flat one does not come.
PULLING = (1.05, 0.75, 1.3)
PUSHING = (0.7, 1.05, 0.5)


def open_drawer(words, level, attempt=0, pull=0.22, press=0.015):
    """Hooks closed fingers over a drawer's handle, between bar and front, and pulls."""
    thing, front = front_of(words)
    if thing is None:
        return
    if level not in front.handles:
        told(found=True, handle=False, seen=sorted(front.handles))
        return
    bar, before = front.handles[level], front.open_by(level)
    way, up = np.array([*front.way, 0.0]), np.array([0.0, 0.0, 1.0])
    pitch, yaw, reach = lean_on(thing, front, bar, PULLING[attempt % 3], 0.14)
    hook = bar - 0.013 * way + 0.012 * up
    go(hook - 0.10 * reach, robo.CLOSE, yaw, pitch=pitch, clip=0.03, tol=0.012, steps=100)
    near = go(hook - 0.02 * reach, robo.CLOSE, yaw, pitch=pitch, clip=0.02, tol=0.006, steps=60)
    at, moved = near, 0.0
    if near.final_dist_m < 0.03 and not robo.done:
        at = go(hook, robo.CLOSE, yaw, pitch=pitch, clip=0.015, tol=0.005, steps=30)
        here = np.array(robo.state().eef_pos)
        goal = here + pull * way - press * up
        go(goal, robo.CLOSE, pitch=pitch, clip=0.02, tol=0.012, steps=70)
        moved = float((np.array(robo.state().eef_pos) - here) @ way)
    if not robo.done:
        here = np.array(robo.state().eef_pos)
        go(here - 0.06 * reach, robo.CLOSE, pitch=pitch, clip=0.03, tol=0.02, steps=30)
    upright(thing.top + 0.12)
    told(
        found=True,
        handle=True,
        bar=bar,
        faces=front.way,
        was_open=before,
        is_open=came_out(words, level, before + moved),
        hand_moved=moved,
        near_mm=1000 * near.final_dist_m,
        at_mm=1000 * at.final_dist_m,
        done=robo.done,
    )


def close_drawer(words, level, attempt=0):
    """Pushes a drawer in by its handle."""
    thing, front = front_of(words)
    if thing is None:
        return
    if level not in front.handles:
        told(found=True, handle=False, seen=sorted(front.handles))
        return
    bar, before = front.handles[level], front.open_by(level)
    way = np.array([*front.way, 0.0])
    pitch, yaw, reach = lean_on(thing, front, bar, PUSHING[attempt % 3], 0.08)
    out = bar + 0.08 * way
    go(out - 0.08 * reach, robo.CLOSE, yaw, pitch=pitch, clip=0.03, tol=0.015, steps=100)
    go(bar + 0.03 * way, robo.CLOSE, yaw, pitch=pitch, clip=0.03, tol=0.012, steps=60)
    here = np.array(robo.state().eef_pos)
    go(here - (before + 0.09) * way, robo.CLOSE, pitch=pitch, clip=0.025, tol=0.01, steps=70)
    moved = float((here - np.array(robo.state().eef_pos)) @ way)
    if not robo.done:
        here = np.array(robo.state().eef_pos)
        go(here - 0.08 * reach, robo.CLOSE, pitch=pitch, clip=0.03, tol=0.02, steps=30)
    upright(thing.top + 0.12)
    told(
        found=True,
        handle=True,
        bar=bar,
        was_open=before,
        is_open=came_out(words, level, before + 0.03 - moved),
        hand_moved=moved,
        done=robo.done,
    )


def turn_knob(words, way=1, by=1.3):
    """Takes the fin on a stove's knob and turns it; 1 is on, -1 off."""
    found, why = find_all(words)
    if not found:
        told(found=False, words=words, why=why)
        return
    thing = found[0]
    fin = thing.points[thing.points[:, 2] > thing.top - 0.018]
    centre, (short, long), turn = rectangle(fin[:, :2])
    z = thing.top - 0.012
    start = yaw_of(turn)
    # The turn should end where the wrist can still follow.
    if way > 0 and start > 0.3:
        start -= math.pi
    if way < 0 and start < -0.3:
        start += math.pi
    rise(thing.top + 0.12, robo.OPEN)
    go([*centre, thing.top + 0.10], robo.OPEN, start, steps=80)
    turn_wrist(start, robo.OPEN)
    go([*centre, z + 0.03], robo.OPEN, start, clip=0.03, tol=0.006)
    down = go([*centre, z], robo.OPEN, start, clip=0.015, tol=0.005, steps=30)
    robo.set_gripper(robo.CLOSE, steps=10)
    closed = robo.state().gripper_opening
    done = robo.rotate_wrist(
        target_yaw=start + way * by, gripper=robo.CLOSE, max_steps=50, tol=0.05, step_clip=0.06
    )
    if not robo.done:
        robo.release(max_steps=8)
        rise(thing.top + 0.14, robo.OPEN)
        turn_wrist(0.0, robo.OPEN)
    told(
        found=True,
        fin=[*centre, z],
        sides=[short, long],
        yaw=start,
        closed=closed,
        moved=done.final - done.start,
        down_mm=1000 * down.final_dist_m,
        done=robo.done,
    )
