"""Written for the reference system's LIBERO robot as a whole program, and played
here unchanged: it surveys the scene, tries every joint of the API, and comes home."""

import json
import math

import numpy as np


def table_height(robo):
    world = robo.world_map(resolution="low")
    z = world[:, :, 2]
    heights = z[np.isfinite(z)]
    low, middle, high = np.percentile(heights, [5, 50, 95])
    print(f"heights {low:.3f} {middle:.3f} {high:.3f}")
    return float(middle)


def pixels_around(row, col, radius=6):
    return [(row + dr, col + dc) for dr in (-radius, 0, radius) for dc in (-radius, 0, radius)]


def median_point(robo, row, col, step=-1):
    found = []
    for r, c in pixels_around(row, col):
        try:
            found.append(robo.back_project(r, c, step=step).world_xyz)
        except RuntimeError as error:
            print("no point at", (r, c), type(error).__name__)
    return np.median(np.array(found), axis=0)


def refused(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except ValueError as error:
        return str(error)
    raise AssertionError("that should have been refused")


def run(robo):
    first = robo.state()
    assert robo.task and not robo.done
    home = np.array(first.eef_pos)
    table = table_height(robo)

    # Pictures in both sizes, at once and later.
    before = robo.image("agentview", resolution="low")
    robo.show()
    centre = median_point(robo, 512, 512, step=0)
    area = robo.region_center([480, 544], [480, 544], z_min=table - 0.2, z_max=table + 0.3, step=0)
    print("centre", centre.tolist(), "area", area.median_xyz, area.n_valid)
    assert np.linalg.norm(np.array(area.median_xyz) - centre) < 0.2
    for name in ("a bowl", "a plate"):
        try:
            seen = robo.segment(prompt=name, camera="agentview", step=0)
            print(name, seen.found, seen.world_xyz)
        except RuntimeError as error:
            print("segment:", error)

    # Calibration, as a dict and as a file, says the same.
    meta = robo.camera_meta("agentview", step=0)
    stored = json.loads(robo.artifact("agentview_metadata.json", step=0))
    assert np.allclose(np.array(meta["intrinsic_K"]), np.array(stored["intrinsic_K"]))
    pose = np.array(meta["extrinsic_cam2world"])
    assert pose.shape == (4, 4) and np.allclose(pose[:3, :3] @ pose[:3, :3].T, np.eye(3), atol=1e-6)

    # Motion: each call says what it came to.
    aside = robo.move_to(home + [0.0, 0.12, -0.05], gripper=robo.OPEN, target_yaw=first.eef_yaw)
    print("aside", aside.reached, aside.steps_used, "of", aside.max_steps)
    pose = robo.move_pose(home + [0.0, 0.05, -0.08], target_yaw=first.eef_yaw + 0.2, tol=0.015)
    print("pose", pose.reached, round(pose.final_pitch, 3))
    yaw = robo.rotate_wrist(delta_yaw=math.radians(-10), gripper=robo.OPEN, tol=0.03)
    pitch = robo.rotate_pitch(delta_pitch=0.1, gripper=robo.OPEN, max_steps=20)
    print("turned", round(yaw.final - yaw.start, 3), round(pitch.final - pitch.start, 3))
    closed = robo.set_gripper(robo.CLOSE, steps=6)
    opened = robo.release()
    assert closed.gripper == 1.0 and opened.peak_gripper_opening >= opened.start_gripper_opening

    # What is not allowed moves nothing.
    steps = robo.state().step
    print(refused(robo.move_to, [home[0] + 0.5, home[1], home[2]]))
    print(refused(robo.move_to, [0.0, float("nan"), 1.0]))
    print(refused(robo.set_gripper, 3))
    print(refused(robo.rotate_wrist))
    print(refused(robo.show, "ceiling"))
    assert robo.state().step == steps

    # The skills, where a policy is there.
    for skill, prompt in ((robo.pi0_pick, "pick up the bowl"), (robo.pi0_doubled, robo.task)):
        try:
            done = skill(prompt, max_chunks=1)
            print(prompt, done.success, done.chunks_used, done.max_chunks)
        except RuntimeError as error:
            print("skill:", type(error).__name__)

    # Nothing of the past is lost.
    again = robo.image("agentview", resolution="low", step=0)
    assert (again == before).all()
    path = [robo.state(k).eef_pos for k in range(robo.state().step + 1)]
    print("way", round(sum(math.dist(a, b) for a, b in zip(path, path[1:], strict=False)), 3), "m")
    back = robo.move_to(home, gripper=robo.OPEN)
    print("home", back.reached)
