# The demo: put the black bowl on the plate (libero_spatial, task 0).
#
# This policy knows where to look: the two positions below were measured once in
# this scene. It shows the plumbing, not perception. What it does not know it
# measures: how far a move really came, whether the fingers hold something, how
# high the rim hangs below the hand.

# %% What is there?
state = robo.state()
print(robo.task)
print("hand at", state.eef_pos, "fingers open by", round(state.gripper_opening, 3), "m")

bowl_rim = (-0.0635, 0.1520, 0.9334)  # where the fingers close over the rim
plate = (0.0534, 0.2052, 0.9025)  # centre of the plate


# %% A helper that later cells use: move, and say what really happened
def go(what, xyz, gripper, **options):
    move = robo.move_to(xyz, gripper=gripper, **options)
    print(f"{what}: {move.steps_used} steps, {1000 * move.final_dist_m:.0f} mm off")
    return move


above = go("above the rim", [bowl_rim[0], bowl_rim[1], bowl_rim[2] + 0.12], robo.OPEN)
assert above.reached, "could not get above the bowl"

# %% Down onto the rim, correcting by what the last move missed
drift = [above.target_xyz[i] - above.final_eef_pos[i] for i in (0, 1)]
aim = [bowl_rim[0] + 0.5 * drift[0], bowl_rim[1] + 0.5 * drift[1], bowl_rim[2]]
down = go("down to the rim", aim, robo.OPEN, tol=0.008)

# %% Grasp, check, try again a little lower if the fingers met nothing
held = False
for lower in (0.0, 0.008, 0.016):
    if lower:
        go("a little lower", [aim[0], aim[1], aim[2] - lower], robo.OPEN, tol=0.008)
    grip = robo.set_gripper(robo.CLOSE, steps=10)
    opening = robo.state().gripper_opening
    held = opening > 0.004
    print("opening", round(opening, 4), "m:", "holding the rim" if held else "nothing in between")
    if held:
        break
    robo.release()

# %% Lift, and see whether the bowl came along
grasped_at = robo.state().eef_pos
lift = go("lift", [grasped_at[0], grasped_at[1], grasped_at[2] + 0.15], robo.CLOSE, tol=0.02)
print("still holding:", robo.state().gripper_opening > 0.004)

# %% Carry: the rim hangs where it was grasped, so the bowl's centre is 5 cm beside it
offset = (grasped_at[0] - bowl_rim[0], grasped_at[1] - bowl_rim[1] - 0.05)
target = [plate[0] + offset[0], plate[1] + offset[1]]
carry = go("above the plate", [*target, plate[2] + 0.19], robo.CLOSE, tol=0.01)

# %% Set it down gently, then let go
if not robo.done:
    go("lower", [*target, plate[2] + 0.06], robo.CLOSE, step_clip=0.012)
if not robo.done:
    robo.release()
if not robo.done:
    here = robo.state().eef_pos
    go("back up", [here[0], here[1], here[2] + 0.12], robo.OPEN)
print("done:", robo.done)
