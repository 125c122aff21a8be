# The made-up arm waves. Each part between the marks is one cell; names live on
# from one cell to the next.

# %% Where is the hand?
state = robo.state()
home = state.eef_pos
print(f"{robo.task}: the hand is at {home}, open by {state.gripper_opening} m")

# %% Raise it
raised = robo.move_to([home[0], home[1], 0.7], gripper=robo.OPEN)
print(
    "raised" if raised.reached else f"only as far as {raised.final_eef_pos}",
    "in",
    raised.steps_used,
    "steps",
)

# %% Wave, twice, as far to each side as the last move really came
x, y, z = raised.final_eef_pos
for side in (1, -1, 1, -1):
    wave = robo.move_to([x, y + side * 0.2, z], tol=0.02)
    print("left" if side > 0 else "right", wave.final_eef_pos)

# %% Reaching beyond the arm is a result, not an error
far = robo.move_to([0.6, 0.6, 0.9], max_steps=60)
print(f"reached: {far.reached}, stalled: {far.stalled} ({far.stall_reason})")

# %% Outside the workspace nothing moves
try:
    robo.move_to([0.3, 0.0, 1.5])
except ValueError as error:
    print("refused:", error)

# %% Close, open, go home
robo.set_gripper(robo.CLOSE, steps=6)
let_go = robo.release()
back = robo.move_to(home)
print(
    f"opened from {let_go.start_gripper_opening} to {let_go.final_gripper_opening} m; home again: {back.reached}"
)
finish("success", "waved")
