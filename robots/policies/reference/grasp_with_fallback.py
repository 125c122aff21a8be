# Written for the reference system's LIBERO robot, and played here unchanged: a
# policy that prefers the learned skills and the segmentation service, and has
# code for when they are not there.

# %% Look
s0 = robo.state()
print(robo.task)
robo.show("agentview")
robo.show("wrist")
low = robo.image(resolution="low")
print(low.shape, low.mean(axis=2).max() > 0)


# %% Where is the thing? By name, else by what stands out above the table
def find(prompt, row, col):
    try:
        seg = robo.segment(prompt)
        if seg.found:
            return np.array(seg.world_xyz)
        print("not found:", seg.error)
        seg = robo.segment(point=(row, col), min_score=0.1)
        if seg.found:
            return np.array(seg.world_xyz)
    except ToolError as error:
        print(error.tool, "is not there")
    world = robo.world_map()
    window = world[row - 40 : row + 40, col - 40 : col + 40].reshape(-1, 3)
    window = window[np.isfinite(window).all(axis=1)]
    top = np.quantile(window[:, 2], 0.9)
    return np.median(window[window[:, 2] >= top], axis=0)


goal = find("the black bowl", 560, 560)
table = robo.back_project(900, 512).world_xyz[2]
print("goal", np.round(goal, 2).tolist(), "table", round(table, 2), goal[2] >= table - 0.5)
middle = robo.region_center((540, 580), (540, 580), camera="agentview", resolution="high", step=-1)
print(middle.center_xyz, middle.n_valid)

# %% The camera's own numbers agree with its map
meta = robo.camera_meta()
K = np.array(meta["intrinsic_K"])
T = np.array(meta["extrinsic_cam2world"])
point = robo.back_project(128, 128, resolution="low").world_xyz
ray = np.linalg.inv(T) @ np.array([*point, 1.0])
uv = K @ (ray[:3] / ray[2])
print("pixel", abs(uv[1] - 128) < 1.5, abs(uv[0] - 128) < 1.5)
print("map", np.allclose(robo.world_map(resolution="low")[128, 128], point, atol=1e-3))
print(len(robo.artifact("wrist_depth.npz", step=0)) > 100000)

# %% Go there: straight, or with the wrist turned when that stalls
above = np.array([goal[0], goal[1], max(table + 0.25, s0.eef_pos[2] - 0.1)])
gap = above[:2] - np.array(s0.eef_pos)[:2]
if np.linalg.norm(gap) > 0.29:
    above[:2] = np.array(s0.eef_pos)[:2] + gap * 0.29 / np.linalg.norm(gap)
m = robo.move_to(above, step_clip=0.025, max_steps=60)
if not m.reached:
    m = robo.move_pose(above, target_pitch=0.0, target_yaw=s0.eef_yaw, max_steps=60)
p = robo.move_pose(above.tolist(), target_yaw=s0.eef_yaw, ori_tol=0.1, max_steps=40)
print("there", p.reached, p.terminated, p.truncated)
for turn in (0.2, -0.2):
    r = robo.rotate_wrist(delta_yaw=turn, gripper=-1.0)
    if robo.done:
        break
r = robo.rotate_pitch(delta_pitch=0.05, gripper=-1.0)
print("angles", round(r.target - r.start, 3), r.reached)

# %% Grasp
try:
    pick = robo.pi0_pick(robo.task, max_chunks=2)
    print("diagnostics", sorted(pick.diagnostics))
except ToolError as error:
    print(error.tool, "is not there")
    here = robo.state().eef_pos
    robo.move_to([*here[:2], here[2] - 0.1], gripper=robo.OPEN, step_clip=0.012, max_steps=20)
    robo.set_gripper(robo.CLOSE, steps=10)
    robo.move_to(here, gripper=robo.CLOSE, max_steps=30)
try:
    robo.pi0_doubled(robo.task, max_chunks=1)
except ToolError as error:
    print(error.tool, "is not there")

# %% Let go and end
free = robo.release(max_steps=8)
print("open", free.final_gripper_opening > 0.05, "of", robo.state().step, "steps")
assert robo.state(step=0).eef_pos == s0.eef_pos
finish(status="stuck", summary="played for its calls, not for the task")
