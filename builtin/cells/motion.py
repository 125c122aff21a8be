# Motion that says how it went, and heights that clear what stands around.
FAR = 0.28  # metres in the plane that one call goes
# The arm begins folded: its shoulder is behind and above the hand by so much, metres, and a
# straight elbow is a dead end from which no move leads back.
START = np.array(robo.state(step=0).eef_pos)
SHOULDER = START + np.array([-0.455, 0.0, 0.075])
REACH = 0.70
WRIST = (0.088, 0.243)  # metres from the fingers back and up to the wrist of an upright hand


def ceiling(xy):
    """How high an upright hand gets there before the elbow is straight."""
    out = float(np.linalg.norm(np.array(xy[:2]) - SHOULDER[:2])) - WRIST[0]
    return float(SHOULDER[2]) - WRIST[1] + math.sqrt(max(REACH**2 - out**2, 0.0))


def go(xyz, gripper, yaw=None, clip=0.05, tol=0.015, steps=60, pitch=None):
    """Goes to xyz in parts as long as a call may be; the last part's outcome."""
    xyz = np.array([float(v) for v in xyz])
    before = math.inf
    while True:
        here = np.array(robo.state().eef_pos)
        left = float(np.linalg.norm((xyz - here)[:2]))
        last = left <= FAR
        stop = xyz if last else here + (xyz - here) * FAR / left
        near = tol if last else 0.04
        if pitch is None:
            move = robo.move_to(
                stop, gripper, tol=near, step_clip=clip, max_steps=steps, target_yaw=yaw
            )
        else:
            move = robo.move_pose(
                stop,
                gripper=gripper,
                target_pitch=pitch,
                target_yaw=yaw,
                tol=near,
                step_clip=clip,
                max_steps=steps,
                ori_tol=0.08,
            )
        if last or robo.done or left > before - 0.02:
            return move
        before = left


def rise(height, gripper, tol=0.03):
    """Straight up to a height, when below it."""
    x, y, z = robo.state().eef_pos
    if z < height - tol and not robo.done:
        go([x, y, height], gripper, tol=tol)


def turn_wrist(yaw, gripper):
    """Turns to a yaw in place. Slowly: a fast turn leaves the hand tilted and runs on."""
    if (
        abs((yaw - robo.state().eef_yaw + math.pi) % (2 * math.pi) - math.pi) > 0.03
        and not robo.done
    ):
        robo.rotate_wrist(target_yaw=yaw, gripper=gripper, max_steps=60, tol=0.012, step_clip=0.05)


def lean():
    """How far the hand leans along the x axis, radians; pitch is along the y axis."""
    x, y, z, w = robo.state().eef_quat
    return math.asin(max(-1.0, min(1.0, 2 * (x * z + w * y))))


def level_hand(gripper):
    """Takes out what tilt is left: a move that was stopped leaves some, and later ones keep it."""
    yaw = robo.state().eef_yaw
    leans = abs(lean()) > 0.14
    if leans:
        # Only a tilt along the y axis can be commanded; a quarter turn makes it one.
        turn_wrist(yaw - math.copysign(math.pi / 2, yaw), gripper)
    for _ in range(2):
        if abs(robo.state().eef_pitch) > 0.04 and not robo.done:
            robo.rotate_pitch(
                target_pitch=0.0, gripper=gripper, max_steps=30, tol=0.01, step_clip=0.03
            )
    if leans:
        turn_wrist(yaw, gripper)


def ground(points, bins=200):
    """Height of the surface that most is seen of."""
    z = points[:, 2]
    counts, edges = np.histogram(z, bins=bins)
    k = int(np.argmax(counts))
    return float(np.median(z[(z >= edges[k]) & (z <= edges[k + 1])]))


def tallest(points, start, end, beside):
    """The highest point within a distance of the way from start to end (x, y)."""
    start, end = np.array(start[:2]), np.array(end[:2])
    way = end - start
    along = ((points[:, :2] - start) @ way) / max(float(way @ way), 1e-9)
    foot = start + np.clip(along, 0, 1)[:, None] * way
    near = np.linalg.norm(points[:, :2] - foot, axis=1) < beside
    return float(points[near, 2].max()) if near.any() else ground(points)
