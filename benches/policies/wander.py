# Goes about above and on the table, whatever stands there, with open and closed fingers.

# %% About
x, y, z = robo.state().eef_pos
for k, (dx, dy, dz) in enumerate(
    [(0.1, 0.1, -0.1), (-0.05, 0.15, -0.2), (0.1, -0.15, -0.25), (0.0, 0.0, 0.0)]
):
    gripper = robo.CLOSE if k % 2 else robo.OPEN
    robo.move_to([x + dx, y + dy, z + dz], gripper, max_steps=25)
    robo.set_gripper(gripper, steps=5)
