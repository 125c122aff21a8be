# Every motion primitive with its options, and where it meets its limits: commands
# that saturate, steps that run out, something in the way, a target out of reach,
# calls that are refused. It starts from wherever the arm is at home, so that it is
# the same for every scene.


# %% Moves
def at(dx, dy, dz):
    return [home[0] + dx, home[1] + dy, home[2] + dz]


home = robo.state().eef_pos
print(robo.move_to(at(0.05, -0.10, -0.06), target_yaw=0.5))
print(robo.move_to(at(0.0, 0.10, -0.10), 1.0, tol=0.004, step_clip=0.2, action_scale=0.02))
print(robo.move_to(at(0.0, 0.0, 0.0), "hold", target_yaw=-0.4, yaw_step_clip=0.3, max_steps=9))
print(robo.move_to(at(0.0, 0.0, 0.0), gripper=0.3, step_clip=0.012))
print(robo.move_to(at(0.0, 0.05, 0.0), max_steps=0))

# %% Poses
print(robo.move_pose(at(0.05, 0.05, -0.08), target_pitch=0.3, target_yaw=0.2))
print(robo.move_pose(at(0.0, 0.0, -0.05), target_yaw=-0.5, gripper="hold", yaw_step=0.02))
print(robo.move_pose(at(0.0, -0.05, -0.05), target_pitch=-0.4, pitch_step=0.2, ori_tol=0.01))
print(robo.move_pose(at(0.0, 0.0, 0.0), tol=0.005, step_clip=0.05, max_steps=30))

# %% Turns
print(robo.rotate_wrist(delta_yaw=0.6))
print(robo.rotate_wrist(target_yaw=-1.2, gripper=-1.0, step_clip=0.3))
print(robo.rotate_wrist(target_yaw=3.0, gripper="hold", max_steps=5))
print(robo.rotate_pitch(delta_pitch=0.25))
print(robo.rotate_pitch(target_pitch=0.0, gripper=-1.0, tol=0.005, max_steps=60))
print(robo.rotate_wrist(target_yaw=0.0, gripper=-1.0))

# %% The gripper
print(robo.set_gripper(robo.CLOSE, steps=12))
print(robo.set_gripper(-0.4, 3))
print(robo.set_gripper("hold"))
print(robo.release())
print(robo.release(max_steps=2))

# %% Down until something is in the way, with closed fingers
print(robo.move_to(at(0.0, 0.0, -0.8), robo.CLOSE, step_clip=0.05, max_steps=90))
print(robo.move_pose(at(0.08, 0.0, -0.8), target_pitch=0.2, gripper="hold", max_steps=25))
print(robo.move_to(at(0.0, 0.0, 0.0), "hold"))

# %% Farther than the arm can reach
for _ in range(3):
    here = robo.state().eef_pos
    print(robo.move_to([here[0] + 0.29, here[1], home[2]], robo.OPEN, max_steps=40))


# %% What is refused moves nothing
def refused(call, *args, **options):
    try:
        call(*args, **options)
    except ValueError as error:
        print(error)


before = robo.state()
refused(robo.move_to, [here[0] + 2.0, here[1], here[2]])
refused(robo.move_pose, [0.0, float("nan"), 1.0])
refused(robo.move_to, home[:2])
refused(robo.set_gripper, 2.0)
refused(robo.rotate_wrist)
refused(robo.rotate_pitch, 0.1, 0.2)
refused(robo.release, max_steps="all")
print("unmoved:", robo.state() == before)

# %% Every state on the way
print(robo.state(), robo.state(0))
for step in range(robo.state().step + 1):
    print(robo.state(step).eef_pos, robo.state(step).gripper_opening)
