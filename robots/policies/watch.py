# Looks on while a recording is played, and moves nothing.

# %% Watch to the end
seen = robo.state()
print(f"{robo.task}: the hand begins at {seen.eef_pos}")
while not robo.done:
    time.sleep(0.05)
    now = robo.state()
    if now.terminated or now.truncated:
        break
    seen = now
print(f"the hand ends at {now.eef_pos}, open by {now.gripper_opening:.3f} m")
