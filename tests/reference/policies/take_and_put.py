# Takes what is at PICK and puts it to PLACE, both world positions in metres, which
# ../record.py writes before this; see there.


# %% Moves may be 0.30 m long in the plane, so longer ones are made in parts
def go(xyz, gripper, **options):
    while not robo.done:
        here = robo.state().eef_pos
        away = [xyz[i] - here[i] for i in (0, 1)]
        part = min(1.0, 0.25 / max((away[0] ** 2 + away[1] ** 2) ** 0.5, 1e-9))
        if part >= 1.0:
            return robo.move_to(xyz, gripper=gripper, **options)
        stop = [here[0] + part * away[0], here[1] + part * away[1], max(here[2], xyz[2])]
        robo.move_to(stop, gripper=gripper, tol=0.03)


def above(xyz, height):
    return [xyz[0], xyz[1], xyz[2] + height]


# %% Take it
go(above(PICK, 0.12), robo.OPEN)
go(PICK, robo.OPEN, tol=0.008, step_clip=0.015)
robo.set_gripper(robo.CLOSE, steps=12)
go(above(PICK, 0.18), robo.CLOSE, tol=0.02)
print("holding:", robo.state().gripper_opening > 0.004)

# %% Put it
go(above(PLACE, 0.22), robo.CLOSE, tol=0.012)
if not robo.done:
    go(above(PLACE, 0.09), robo.CLOSE, step_clip=0.012)
if not robo.done:
    robo.release()
if not robo.done:
    go(above(robo.state().eef_pos, 0.12), robo.OPEN, tol=0.03)
print("done:", robo.done)
