# Looks on while a recording is played, and moves nothing.

# %% Watch to the end
print(f"{robo.task}: the hand begins at {robo.state().eef_pos}")
while not robo.done:
    # A call is answered with what was measured next, whatever it says.
    robo.set_gripper("hold", steps=5)
end = robo.state()
print(f"the hand ends at {end.eef_pos}, open by {end.gripper_opening:.3f} m")
