# Written for the reference system's LIBERO robot, and played here unchanged:
# cells that look, decide in code, and use every method of `robo` once.
# (libero_spatial, task 0: the black bowl goes on the plate.)

# %% What is there?
state = robo.state()
print(robo.task, "done:", robo.done)
print(state.object_names)
print("hand", [round(v, 3) for v in state.eef_pos], "yaw", round(state.eef_yaw, 2))
print("pitch", round(state.eef_pitch, 2), "opening", round(state.gripper_opening, 3))
robo.show("agentview")

# %% How high is the table, and what stands on it?
img = robo.image("agentview")
world = robo.world_map("agentview")
print(img.shape, img.dtype, world.shape)
points = world[400:800, 250:800, :].reshape(-1, 3)
points = points[np.isfinite(points).all(axis=1)]
table_z = float(np.median(points[:, 2]))
print("table z", round(table_z, 3), "from", len(points), "points")

# %% Dark things above the table
rgb = img.astype(float)
dark = (
    (rgb.max(axis=2) < 70) & (world[:, :, 2] > table_z + 0.02) & (world[:, :, 2] < table_z + 0.12)
)
rows, cols = np.where(dark)
print("dark pixels", len(rows))
pixel = (int(np.median(rows)), int(np.median(cols))) if len(rows) else (520, 560)
print("at", pixel, img[pixel[0], pixel[1]].tolist())
bowl = robo.back_project(*pixel, step=0)
print(bowl.world_xyz, bowl.pixel, bowl.camera, bowl.resolution, bowl.step, bowl.image_size)
patch = robo.region_center(
    (pixel[0] - 30, pixel[0] + 30), (pixel[1] - 30, pixel[1] + 30), z_min=table_z + 0.01
)
print("around it", patch.center_xyz, patch.median_xyz, patch.n_valid, patch.camera, patch.step)

# %% The named way to find it, where there is a segmentation service
target = np.array(patch.median_xyz)
try:
    found = robo.segment("the black bowl", camera="agentview", min_score=0.2)
    print("segment", found.found, found.score, found.box, found.overlay_artifact, found.error)
    if found.found and found.world_xyz is not None:
        target = np.array(found.world_xyz)
except RuntimeError as error:
    print("segment:", type(error).__name__)
meta = robo.camera_meta("wrist")
print("wrist camera", meta["height"], meta["width"], np.array(meta["intrinsic_K"])[0, 0] > 0)
print("png", len(robo.artifact("agentview_high.png")) > 10000)


# %% A helper, and the way above the target
def checked_move(xyz, gripper=-1, **kwargs):
    xyz = np.array(xyz, dtype=float)
    here = np.array(robo.state().eef_pos)
    far = np.linalg.norm((xyz - here)[:2])
    for k in range(1, int(far // 0.25) + 1):
        way = here + (xyz - here) * (k * 0.25 / far)
        robo.move_to([way[0], way[1], max(here[2], xyz[2])], gripper=gripper)
    m = robo.move_to(xyz, gripper=gripper, **kwargs)
    print("moved to", m.final_eef_pos, "off by", round(m.final_dist_m, 4), "reached", m.reached)
    return m


above = checked_move([*target[:2], table_z + 0.25], gripper=robo.OPEN, tol=0.02)

# %% Align the wrist, look closely, go down on the rim
turn = robo.rotate_wrist(delta_yaw=0.1, gripper=-1)
print("turned", round(turn.start, 2), "->", round(turn.final, 2), turn.reached)
turn = robo.rotate_wrist(target_yaw=turn.start, gripper=-1)
tilt = robo.rotate_pitch(target_pitch=0.0, gripper=robo.OPEN)
print("tilt left", round(tilt.final_err, 3), tilt.steps_used)
robo.show("wrist")
close = robo.image("wrist", resolution="low")
print("close up", close.shape)
down = robo.move_pose(
    [target[0], target[1] - 0.05, table_z + 0.035],
    target_pitch=0.0,
    gripper=-1,
    step_clip=0.015,
    max_steps=100,
)
print("down", down.final_eef_pos, down.reached, round(down.final_pitch, 3))

# %% Grasp: by the policy where there is one, else by hand
try:
    pick = robo.pi0_pick("pick up the black bowl", max_chunks=20, lift_thresh=0.05)
    print("pick", pick.success, pick.chunks_used, pick.peak_lift_m, pick.final_gripper_opening)
except RuntimeError as error:
    print("pi0_pick:", type(error).__name__)
grip = robo.set_gripper(+1, steps=8)
print("holding", 0.004 < robo.state().gripper_opening < 0.06, grip.steps)
here = robo.state().eef_pos
checked_move([here[0], here[1], here[2] + 0.1], gripper=+1)

# %% Let go, and the contact skill if there is one
if not robo.done:
    let_go = robo.release(max_steps=10)
    print("released", let_go.steps_used, let_go.peak_gripper_opening > 0.03, let_go.terminated)
try:
    contact = robo.pi0_doubled("put the bowl on the plate", max_chunks=2)
    print("contact", contact.success, contact.chunks_used)
except RuntimeError as error:
    print("pi0_doubled:", type(error).__name__)
print("steps", robo.state().step, "first", robo.state(0).eef_pos == state.eef_pos)

# %% What was seen at any step is still there, as arrays and as files
before, after = robo.image("wrist", step=1), robo.image("wrist", step=-1)
print("the wrist moved", bool((before != after).any()), robo.world_map("wrist", step=1).shape)
for step in (0, 1, -1):
    for name in ("{}.png", "{}_high.png", "{}_depth.npz", "{}_world.npz", "{}_metadata.json"):
        print(step, name, len(robo.artifact(name.format("wrist"), step=step)) > 200)
print("for the policy", robo.artifact("agentview_policy.png")[1:4])
print("in full", len(robo.artifact("agentview_world_high.npz", step=1)) > 1024 * 1024)
