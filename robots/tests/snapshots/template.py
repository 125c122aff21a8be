class State(Record):
    """The robot at one step.

    step (int): recorded step this is the state of
    task (str): the instruction
    joint_pos (6 floats, rad): joint angles
    eef_pos (3 floats, m): gripper centre in the world frame
    eef_quat (4 floats): gripper orientation, xyzw
    gripper_opening (float, m): distance between the fingers
    terminated (bool): the benchmark's predicate holds: the task is solved and the episode over
    truncated (bool): the step budget is used up and the episode over
    """

    _fields = ("step", "task", "joint_pos", "eef_pos", "eef_quat", "gripper_opening", "terminated", "truncated",)


class Move(Record):
    """What move_to did.

    target_xyz (3 floats, m): the commanded target
    final_eef_pos (3 floats, m): where the gripper came to
    final_dist_m (float, m): distance left to the target
    reached (bool): final_dist_m <= tol
    steps_used (int): control steps taken
    max_steps (int): control steps allowed
    terminated (bool): the benchmark's predicate holds: the task is solved and the episode over
    truncated (bool): the step budget is used up and the episode over
    stalled (bool): the arm stopped making progress before it got there
    stall_reason (str, or None): what was measured when it stalled
    """

    _fields = ("target_xyz", "final_eef_pos", "final_dist_m", "reached", "steps_used", "max_steps", "terminated", "truncated", "stalled", "stall_reason",)


class Gripper(Record):
    """What set_gripper did.

    gripper (float): the command that was applied
    steps (int): control steps taken
    terminated (bool): the benchmark's predicate holds: the task is solved and the episode over
    truncated (bool): the step budget is used up and the episode over
    """

    _fields = ("gripper", "steps", "terminated", "truncated",)


class Release(Record):
    """What release did.

    steps_used (int): control steps taken
    start_gripper_opening (float, m): opening before
    peak_gripper_opening (float, m): widest opening
    final_gripper_opening (float, m): opening after
    terminated (bool): the benchmark's predicate holds: the task is solved and the episode over
    truncated (bool): the step budget is used up and the episode over
    """

    _fields = ("steps_used", "start_gripper_opening", "peak_gripper_opening", "final_gripper_opening", "terminated", "truncated",)


class Robo:
    """A simulated six-axis arm with a two-finger gripper and nothing else in the scene. World frame: the base is the origin, x forward, z up; metres, radians, quaternions xyzw."""

    __slots__ = ()
    OPEN = -1.0
    CLOSE = 1.0

    @property
    def task(self):
        """the instruction of this episode"""
        return _attribute("task")

    @property
    def done(self):
        """whether the episode is over; stays True once it was"""
        return _attribute("done")

    def state(self, step=-1):
        """Reads the robot's state without moving.

        step (int): recorded step: 0 is the initial scene, -1 the latest; each call that changes the scene adds one

        Returns State.
        ValueError: there is no such step.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return State(_call("state", {"step": step}))

    def move_to(self, xyz, gripper=-1.0, *, tol=0.012, step_clip=0.025, max_steps=80):
        """Moves the gripper in a straight line to xyz and keeps its orientation.

        xyz (3 floats, m): target of the gripper centre in the world frame
        gripper (float or "hold"): gripper command during the motion; "hold" repeats the last non-zero command
        tol (float, m): distance at which the target counts as reached
        step_clip (float, m): largest commanded move per control step and axis
        max_steps (int): control steps at most

        Returns Move.
        ValueError: an argument is not allowed; nothing moved.
        EpisodeFinished: the episode is over; nothing moved.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return Move(_call("move_to", {"xyz": xyz, "gripper": gripper, "tol": tol, "step_clip": step_clip, "max_steps": max_steps}))

    def set_gripper(self, gripper, steps=5):
        """Opens or closes the gripper in place.

        gripper (float or "hold"): gripper command; "hold" repeats the last non-zero command
        steps (int): control steps to apply it

        Returns Gripper.
        ValueError: an argument is not allowed; nothing moved.
        EpisodeFinished: the episode is over; nothing moved.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return Gripper(_call("set_gripper", {"gripper": gripper, "steps": steps}))

    def release(self, max_steps=20):
        """Opens the gripper in place; returns early when the task is solved.

        max_steps (int): control steps at most

        Returns Release.
        ValueError: an argument is not allowed; nothing moved.
        EpisodeFinished: the episode is over; nothing moved.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return Release(_call("release", {"max_steps": max_steps}))
