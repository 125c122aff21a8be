# A pick and place of 15 motion calls, for benches/measure.py: libero_spatial, task 0,
# seed 0, from positions measured beforehand.


# %%
def run(robo):
    rim, plate = (-0.0635, 0.1520, 0.9334), (0.0534, 0.2052, 0.9025)
    fast = dict(step_clip=0.05, tol=0.015)
    x, y, z = rim
    robo.move_to([x, y, z + 0.16], robo.OPEN, **fast)
    robo.move_to([x, y, z + 0.08], robo.OPEN, **fast)
    robo.move_to([x, y, z + 0.04], robo.OPEN, **fast)
    robo.move_to([x, y, z], robo.OPEN, tol=0.008)
    robo.set_gripper(robo.CLOSE, steps=8)
    robo.move_to([x, y, z + 0.08], robo.CLOSE, **fast)
    robo.move_to([x, y, z + 0.16], robo.CLOSE, **fast)
    x, y, z = plate[0], plate[1] - 0.05, plate[2]
    robo.move_to([x - 0.04, y, z + 0.19], robo.CLOSE, **fast)
    robo.move_to([x, y, z + 0.19], robo.CLOSE, tol=0.01)
    robo.rotate_wrist(delta_yaw=0.05)
    robo.move_to([x, y, z + 0.14], robo.CLOSE, tol=0.01)
    robo.move_to([x, y, z + 0.11], robo.CLOSE, tol=0.01)
    robo.move_to([x, y, z + 0.085], robo.CLOSE, tol=0.01)
    robo.move_to([x, y, z + 0.06], robo.CLOSE, step_clip=0.012)
    robo.release(max_steps=10)


run(robo)
