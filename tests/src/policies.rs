//! What the template robot is made to do.

/// Three cells; the later ones compute from what the earlier ones measured.
pub const THREE_CELLS: &str = r#"
# %% look
start = robo.state().eef_pos
print(f"at {start[2]:.2f} m")
# %% up
up = robo.move_to([start[0], start[1], start[2] + 0.1])
print("reached" if up.reached else "missed", up.steps_used)
# %% back
back = robo.move_to(start, gripper=1.0)
print("closed", robo.state().gripper_opening < 0.01)
"#;

/// Moves to and fro until somebody ends it.
pub const FOR_EVER: &str = r#"
# %% for ever
start = robo.state().eef_pos
while True:
    for dz in (0.1, 0.0):
        robo.move_to([start[0], start[1], start[2] + dz])
        time.sleep(0.05)
"#;
