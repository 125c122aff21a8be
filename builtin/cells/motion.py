# Motion that says how it went, and heights that clear what stands around.
FAR = 0.28  # metres in the plane that one call goes


def go(xyz, gripper, yaw=None, clip=0.05, tol=0.015, steps=60, pitch=None):
    """Goes to xyz in parts as long as a call may be; the last part's outcome."""
    xyz = np.array([float(v) for v in xyz])
    start = np.array(robo.state().eef_pos)
    parts = max(1, math.ceil(np.linalg.norm((xyz - start)[:2]) / FAR))
    for part in range(1, parts + 1):
        stop = start + (xyz - start) * part / parts
        last = part == parts
        if pitch is None:
            move = robo.move_to(
                stop,
                gripper,
                tol=tol if last else 0.04,
                step_clip=clip,
                max_steps=steps,
                target_yaw=yaw,
            )
        else:
            move = robo.move_pose(
                stop,
                gripper=gripper,
                target_pitch=pitch,
                target_yaw=yaw,
                tol=tol if last else 0.04,
                step_clip=clip,
                max_steps=steps,
                ori_tol=0.08,
            )
        if robo.done:
            break
    return move


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


def level_hand(gripper):
    """Takes out what tilt about the x axis is left."""
    for _ in range(2):
        if abs(robo.state().eef_pitch) > 0.04 and not robo.done:
            robo.rotate_pitch(
                target_pitch=0.0, gripper=gripper, max_steps=30, tol=0.01, step_clip=0.03
            )


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
