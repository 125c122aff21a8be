class State(Record):
    """The robot at one step.

    step (int): recorded step this is the state of
    task (str): the instruction
    eef_pos (3 floats, m): gripper centre in the world frame
    eef_quat (4 floats): gripper orientation, xyzw
    eef_yaw (float, rad): rotation about the vertical axis
    eef_pitch (float, rad): tilt; 0 points straight down
    gripper_qpos (2 floats, m): finger joint positions
    gripper_opening (float, m): distance between the fingers: about 0.08 open, about 0 closed on nothing, 0.01 to 0.05 holding something
    object_names (tuple of str): movable objects of the scene
    terminated (bool): the benchmark's predicate holds: the task is solved and the episode over
    truncated (bool): the step budget is used up and the episode over
    """

    _fields = ("step", "task", "eef_pos", "eef_quat", "eef_yaw", "eef_pitch", "gripper_qpos", "gripper_opening", "object_names", "terminated", "truncated",)


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


class MovePose(Record):
    """What move_pose did.

    final_eef_pos (3 floats, m): where the gripper came to
    final_dist_m (float, m): distance left to the target
    final_pitch (float, rad): tilt at the end
    reached (bool): final_dist_m <= tol; says nothing about the angles
    steps_used (int): control steps taken
    terminated (bool): the benchmark's predicate holds: the task is solved and the episode over
    truncated (bool): the step budget is used up and the episode over
    stalled (bool): the arm stopped making progress before it got there
    stall_reason (str, or None): what was measured when it stalled
    """

    _fields = ("final_eef_pos", "final_dist_m", "final_pitch", "reached", "steps_used", "terminated", "truncated", "stalled", "stall_reason",)


class Rotation(Record):
    """What rotate_wrist or rotate_pitch did.

    start (float, rad): angle before
    target (float, rad): angle commanded
    final (float, rad): angle after
    final_err (float, rad): angle left to the target
    reached (bool): |final_err| <= tol
    steps_used (int): control steps taken
    terminated (bool): the benchmark's predicate holds: the task is solved and the episode over
    truncated (bool): the step budget is used up and the episode over
    stalled (bool): the arm stopped making progress before it got there
    stall_reason (str, or None): what was measured when it stalled
    """

    _fields = ("start", "target", "final", "final_err", "reached", "steps_used", "terminated", "truncated", "stalled", "stall_reason",)


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
    """A Franka Panda arm with a two-finger gripper in a LIBERO scene. World frame: x and y along the table, z up; metres, radians, quaternions xyzw. One control step is 1/20 s."""

    __slots__ = ()
    OPEN = -1.0
    CLOSE = 1.0
    MAX_PLANAR_MOVE_M = 0.3

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

    def move_to(self, xyz, gripper=-1.0, *, tol=0.012, step_clip=0.025, max_steps=80, target_yaw=None, yaw_step_clip=0.1, action_scale=0.05):
        """Moves the gripper in a straight line to xyz and keeps its orientation, unless target_yaw is given. Ends when within tol, or after max_steps.

        xyz (3 floats, m): target of the gripper centre in the world frame
        gripper (float or "hold"): gripper command during the motion; "hold" repeats the last non-zero command
        tol (float, m): distance at which the target counts as reached
        step_clip (float, m): largest commanded move per control step and axis; smaller is slower and gentler
        max_steps (int): control steps at most
        target_yaw (float, rad, or None): yaw to turn to on the way
        yaw_step_clip (float, rad): largest commanded turn per control step
        action_scale (float, m): metres that a full action of 1.0 commands

        Returns Move.
        ValueError: an argument is not allowed; nothing moved.
        EpisodeFinished: the episode is over; nothing moved.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return Move(_call("move_to", {"xyz": xyz, "gripper": gripper, "tol": tol, "step_clip": step_clip, "max_steps": max_steps, "target_yaw": target_yaw, "yaw_step_clip": yaw_step_clip, "action_scale": action_scale}))

    def move_pose(self, xyz, *, target_pitch=None, target_yaw=None, gripper=-1.0, step_clip=0.02, pitch_step=0.08, yaw_step=0.08, tol=0.012, ori_tol=0.05, max_steps=150, action_scale=0.05):
        """Moves to xyz while turning to target_pitch and target_yaw. Ends when position and the given angles are within tol and ori_tol, or after max_steps.

        xyz (3 floats, m): target of the gripper centre in the world frame
        target_pitch (float, rad, or None): tilt to reach; 0 points straight down
        target_yaw (float, rad, or None): yaw to reach
        gripper (float or "hold"): gripper command during the motion; "hold" repeats the last non-zero command
        step_clip (float, m): largest commanded move per control step and axis
        pitch_step (float, rad): largest commanded tilt per control step
        yaw_step (float, rad): largest commanded turn per control step
        tol (float, m): distance at which the position counts as reached
        ori_tol (float, rad): angle at which an orientation counts as reached
        max_steps (int): control steps at most
        action_scale (float, m): metres that a full action of 1.0 commands

        Returns MovePose.
        ValueError: an argument is not allowed; nothing moved.
        EpisodeFinished: the episode is over; nothing moved.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return MovePose(_call("move_pose", {"xyz": xyz, "target_pitch": target_pitch, "target_yaw": target_yaw, "gripper": gripper, "step_clip": step_clip, "pitch_step": pitch_step, "yaw_step": yaw_step, "tol": tol, "ori_tol": ori_tol, "max_steps": max_steps, "action_scale": action_scale}))

    def rotate_wrist(self, target_yaw=None, delta_yaw=None, gripper=1.0, max_steps=40, tol=0.02, step_clip=0.1):
        """Turns the gripper about the vertical axis, to target_yaw or by delta_yaw.

        target_yaw (float, rad, or None): yaw to reach
        delta_yaw (float, rad, or None): turn from the present yaw
        gripper (float or "hold"): gripper command during the motion; "hold" repeats the last non-zero command
        max_steps (int): control steps at most
        tol (float, rad): angle at which the target counts as reached
        step_clip (float, rad): largest commanded turn per control step

        Returns Rotation.
        ValueError: an argument is not allowed; nothing moved.
        EpisodeFinished: the episode is over; nothing moved.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return Rotation(_call("rotate_wrist", {"target_yaw": target_yaw, "delta_yaw": delta_yaw, "gripper": gripper, "max_steps": max_steps, "tol": tol, "step_clip": step_clip}))

    def rotate_pitch(self, target_pitch=None, delta_pitch=None, gripper=1.0, max_steps=40, tol=0.02, step_clip=0.1):
        """Tilts the gripper, to target_pitch or by delta_pitch; 0 points straight down.

        target_pitch (float, rad, or None): tilt to reach
        delta_pitch (float, rad, or None): tilt from the present one
        gripper (float or "hold"): gripper command during the motion; "hold" repeats the last non-zero command
        max_steps (int): control steps at most
        tol (float, rad): angle at which the target counts as reached
        step_clip (float, rad): largest commanded turn per control step

        Returns Rotation.
        ValueError: an argument is not allowed; nothing moved.
        EpisodeFinished: the episode is over; nothing moved.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return Rotation(_call("rotate_pitch", {"target_pitch": target_pitch, "delta_pitch": delta_pitch, "gripper": gripper, "max_steps": max_steps, "tol": tol, "step_clip": step_clip}))

    def set_gripper(self, gripper, steps=5):
        """Opens or closes the gripper in place. A firm grip takes 8 to 12 steps.

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
