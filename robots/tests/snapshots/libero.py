class State(Record):
    """The robot at one step.

    step (int): recorded step it is from
    task (str): the instruction
    eef_pos (3 floats, m): the gripper's centre
    eef_quat (4 floats): its orientation, xyzw
    eef_yaw (float, rad): its turn about the vertical axis
    eef_pitch (float, rad): its tilt; 0 points straight down
    gripper_qpos (2 floats, m): the two finger joints
    gripper_opening (float, m): between the fingers: about 0.08 open, 0.01 to 0.05 holding something, 0 closed on nothing
    object_names (tuple of str): the movable objects, without poses
    terminated (bool): the task is solved and the episode over
    truncated (bool): the control steps are used up and the episode over
    """

    _fields = ("step", "task", "eef_pos", "eef_quat", "eef_yaw", "eef_pitch", "gripper_qpos", "gripper_opening", "object_names", "terminated", "truncated",)


class SegmentInstance(Record):
    """One of several things that segment found.

    world_xyz (3 floats, m, or None): median of the visible surface
    score (float): 0 to 1
    box (4 floats): (col0, row0, col1, row1) in the picture
    overlay_artifact (str): name of a picture with the mask in red
    label (str, or None): what the eyes take it for
    extent (3 floats, m, or None): size of the visible surface along x, y and z, without its outermost hundredths
    pixels (int): pixels of the mask
    seen (float, or None): share of the mask's outline that nothing nearer hides and no border cuts, 0 to 1
    mask (bool array (height, width)): where it is in the picture; fits image() and world_map() of that resolution
    """

    _fields = ("world_xyz", "score", "box", "overlay_artifact", "label", "extent", "pixels", "seen",)


class Segment(Record):
    """What segment found.

    found (bool): there is a mask of at least min_score
    world_xyz (3 floats, m, or None): median of the visible surface
    score (float, or None): 0 to 1
    box (4 floats, or None): (col0, row0, col1, row1) in the picture
    camera (str): which camera
    step (int): recorded step it is from
    overlay_artifact (str, or None): name of a picture with the mask in red
    error (str, or None): why there is no mask or no point
    label (str, or None): what the eyes take it for
    extent (3 floats, m, or None): size of the visible surface along x, y and z, without its outermost hundredths
    pixels (int): pixels of the mask
    seen (float, or None): share of the mask's outline that nothing nearer hides and no border cuts, 0 to 1
    reason (str, or None): how words that relate (next to, left, between) were decided
    mask (bool array (height, width), or None): where it is in the picture; fits image() and world_map() of that resolution
    others (tuple of SegmentInstance): the next best, top_k - 1 at most
    """

    _fields = ("found", "world_xyz", "score", "box", "camera", "step", "overlay_artifact", "error", "label", "extent", "pixels", "seen", "reason", "others",)
    _inner = {"others": SegmentInstance}


class BackProjection(Record):
    """What back_project found.

    world_xyz (3 floats, m): the point, to 0.1 mm
    pixel (2 ints): (row, col)
    camera (str): which camera
    resolution (str, int or 2 ints): as given
    step (int): recorded step it is from
    image_size (2 ints): (height, width)
    """

    _fields = ("world_xyz", "pixel", "camera", "resolution", "step", "image_size",)


class RegionCenter(Record):
    """What region_center found.

    center_xyz (3 floats, m): middle of the x and y extent, median z
    median_xyz (3 floats, m): median of each axis
    n_valid (int): pixels that counted
    camera (str): which camera
    step (int): recorded step it is from
    """

    _fields = ("center_xyz", "median_xyz", "n_valid", "camera", "step",)


class Move(Record):
    """What move_to did.

    target_xyz (3 floats, m): the target
    final_eef_pos (3 floats, m): where the gripper came to
    final_dist_m (float, m): distance left to the target
    reached (bool): final_dist_m <= tol
    steps_used (int): control steps taken
    max_steps (int): control steps allowed
    terminated (bool): the task is solved and the episode over
    truncated (bool): the control steps are used up and the episode over
    stalled (bool): it ended short of the target and without progress
    stall_reason (str, or None): what was measured when it stalled
    """

    _fields = ("target_xyz", "final_eef_pos", "final_dist_m", "reached", "steps_used", "max_steps", "terminated", "truncated", "stalled", "stall_reason",)


class MovePose(Record):
    """What move_pose did.

    final_eef_pos (3 floats, m): where the gripper came to
    final_dist_m (float, m): distance left to the target
    final_pitch (float, rad): tilt at the end
    reached (bool): final_dist_m <= tol; says nothing of the angles
    steps_used (int): control steps taken
    terminated (bool): the task is solved and the episode over
    truncated (bool): the control steps are used up and the episode over
    stalled (bool): it ended short of the target and without progress
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
    terminated (bool): the task is solved and the episode over
    truncated (bool): the control steps are used up and the episode over
    stalled (bool): it ended short of the target and without progress
    stall_reason (str, or None): what was measured when it stalled
    """

    _fields = ("start", "target", "final", "final_err", "reached", "steps_used", "terminated", "truncated", "stalled", "stall_reason",)


class Gripper(Record):
    """What set_gripper did.

    gripper (float): the command that was applied
    steps (int): control steps taken
    terminated (bool): the task is solved and the episode over
    truncated (bool): the control steps are used up and the episode over
    """

    _fields = ("gripper", "steps", "terminated", "truncated",)


class Release(Record):
    """What release did.

    steps_used (int): control steps taken
    start_gripper_opening (float, m): opening before
    peak_gripper_opening (float, m): widest opening
    final_gripper_opening (float, m): opening after
    terminated (bool): the task is solved and the episode over
    truncated (bool): the control steps are used up and the episode over
    """

    _fields = ("steps_used", "start_gripper_opening", "peak_gripper_opening", "final_gripper_opening", "terminated", "truncated",)


class Pick(Record):
    """What pi0_pick did.

    success (bool): it stopped by its rule or the task is solved: a hint, no proof
    chunks_used (int): action chunks taken
    max_chunks (int): action chunks allowed
    peak_lift_m (float, m): rise since the lowest point
    min_gripper_opening (float, m): narrowest opening
    final_gripper_opening (float, m): opening after
    terminated (bool): the task is solved and the episode over
    truncated (bool): the control steps are used up and the episode over
    diagnostics (dict): the heights and thresholds behind it
    """

    _fields = ("success", "chunks_used", "max_chunks", "peak_lift_m", "min_gripper_opening", "final_gripper_opening", "terminated", "truncated", "diagnostics",)


class Contact(Record):
    """What pi0_doubled did.

    success (bool): the task is solved; False says nothing of a step on the way
    chunks_used (int): action chunks taken
    max_chunks (int): action chunks allowed
    terminated (bool): the task is solved and the episode over
    truncated (bool): the control steps are used up and the episode over
    """

    _fields = ("success", "chunks_used", "max_chunks", "terminated", "truncated",)


class Robo:
    """A Franka Panda arm with a two-finger gripper in a LIBERO scene, at 20 control steps a second. World frame: x and y along the table, z up; metres, radians, quaternions xyzw. The arm starts above the table, pointing down, open."""

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
        """the episode is over, solved or not; stays True"""
        return _attribute("done")

    def state(self, step=-1):
        """What the robot measures. Free: it costs no step and hardly any time.

        step (int): recorded step: 0 is the initial scene, -1 the latest; each call that moves the robot records one

        Returns State.
        ValueError: there is no such step.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return State(_call("state", {"step": step}))

    def image(self, camera="agentview", *, resolution="high", step=-1):
        """A picture.

        camera (str): which camera
        resolution (str, int or 2 ints): picture size: "high", "low", n (square) or (width, height); pixels count in it
        step (int): recorded step: 0 is the initial scene, -1 the latest; each call that moves the robot records one

        Returns uint8 array (height, width, 3), RGB.
        ValueError: there is no such step.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return _call("image", {"camera": camera, "resolution": resolution, "step": step})

    def world_map(self, camera="agentview", *, resolution="high", step=-1):
        """The world point seen at each pixel of image(); NaN where no depth was measured.

        camera (str): which camera
        resolution (str, int or 2 ints): picture size: "high", "low", n (square) or (width, height); pixels count in it
        step (int): recorded step: 0 is the initial scene, -1 the latest; each call that moves the robot records one

        Returns float32 array (height, width, 3), m.
        ValueError: there is no such step.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return _call("world_map", {"camera": camera, "resolution": resolution, "step": step})

    def show(self, camera="agentview", *, size="high", crop=None):
        """Adds the camera's picture of this moment to what you see after the cell. Pictures cost tokens: show one when a decision depends on it.

        camera (str): which camera
        size (str, int or 2 ints): as resolution in image()
        crop (4 ints, or None): (row0, col0, row1, col1): only this part of the picture

        Returns None.
        ValueError: there is no such step.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        _call("show", {"camera": camera, "size": size, "crop": crop})

    def segment(self, prompt=None, *, camera="agentview", point=None, min_score=0.2, step=-1, top_k=1, resolution="high"):
        """Finds one thing, or the top_k best, by a description or a pixel on it.

        prompt (str, or None): what it looks like, and where it is among others: "black bowl", "left plate", "the black bowl next to the ramekin", "bowl between the plate and the stove", "top drawer of the cabinet"; left, right, front and back as the fixed camera sees them; brands and internal names score badly
        camera (str): which camera
        point (2 ints, or None): (row, col) on it in the picture
        min_score (float): least score to accept
        step (int): recorded step: 0 is the initial scene, -1 the latest; each call that moves the robot records one
        top_k (int): results at most, 1 to 20
        resolution (str, int or 2 ints): picture size: "high", "low", n (square) or (width, height); pixels count in it

        Returns Segment.
        ValueError: there is no such step.
        ToolError: the run has no perception, or it failed.
        """
        return Segment(_call("segment", {"prompt": prompt, "camera": camera, "point": point, "min_score": min_score, "step": step, "top_k": top_k, "resolution": resolution}))

    def back_project(self, row, col, *, camera="agentview", resolution="high", step=-1):
        """The world point seen at one pixel.

        row (int): pixel row, 0 at the top
        col (int): pixel column, 0 at the left
        camera (str): which camera
        resolution (str, int or 2 ints): picture size: "high", "low", n (square) or (width, height); pixels count in it
        step (int): recorded step: 0 is the initial scene, -1 the latest; each call that moves the robot records one

        Returns BackProjection.
        ValueError: there is no such step.
        ToolError: the pixel is outside the picture or has no depth.
        """
        return BackProjection(_call("back_project", {"row": row, "col": col, "camera": camera, "resolution": resolution, "step": step}))

    def region_center(self, row_range, col_range, *, camera="agentview", resolution="high", z_min=None, z_max=None, step=-1):
        """The world centre of a pixel window, such as the inside of a basket, whose median would lean towards the rim.

        row_range (2 ints): (first, end) rows
        col_range (2 ints): (first, end) columns
        camera (str): which camera
        resolution (str, int or 2 ints): picture size: "high", "low", n (square) or (width, height); pixels count in it
        z_min (float, m, or None): only points at least so high
        z_max (float, m, or None): only points at most so high
        step (int): recorded step: 0 is the initial scene, -1 the latest; each call that moves the robot records one

        Returns RegionCenter.
        ValueError: there is no such step.
        ToolError: fewer than 8 pixels of the window have a point in the z band.
        """
        return RegionCenter(_call("region_center", {"row_range": row_range, "col_range": col_range, "camera": camera, "resolution": resolution, "z_min": z_min, "z_max": z_max, "step": step}))

    def camera_meta(self, camera="agentview", *, step=-1, resolution="low"):
        """The camera's calibration.

        camera (str): which camera
        step (int): recorded step: 0 is the initial scene, -1 the latest; each call that moves the robot records one
        resolution (str, int or 2 ints): picture size: "high", "low", n (square) or (width, height); pixels count in it

        Returns dict.
        ValueError: there is no such step.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return _call("camera_meta", {"camera": camera, "step": step, "resolution": resolution})

    def artifact(self, name, *, step=-1):
        """A file about a recorded step: CAMERA.png, CAMERA_high.png, CAMERA_depth.npz, CAMERA_world.npz, CAMERA_world_high.npz, CAMERA_metadata.json, CAMERA_policy.png (mirrored, as policies take it).

        name (str): name of the file
        step (int): recorded step: 0 is the initial scene, -1 the latest; each call that moves the robot records one

        Returns bytes.
        ValueError: there is no such step.
        ToolError: there is no file of that name.
        """
        return _call("artifact", {"name": name, "step": step}).tobytes()

    def move_to(self, xyz, gripper=-1.0, *, tol=0.012, step_clip=0.025, max_steps=80, target_yaw=None, yaw_step_clip=0.1, action_scale=0.05):
        """Goes straight to xyz and keeps its orientation, or turns to target_yaw on the way. Ends within tol or after max_steps.

        xyz (3 floats, m): where the gripper's centre goes
        gripper (float or "hold"): command during the whole call, from -1 (open) to +1 (close); "hold" repeats the last one that was not 0
        tol (float, m): error that counts as reached
        step_clip (float, m): cap on what one control step commands, for each axis
        max_steps (int): control steps at most
        target_yaw (float, rad, or None): yaw to turn to, about the vertical axis
        yaw_step_clip (float, rad): the same for yaw
        action_scale (float, m): what an action of 1.0 commands; leave it

        Returns Move.
        ValueError: an argument is not allowed; nothing moved.
        EpisodeFinished: the episode is over; nothing moved.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return Move(_call("move_to", {"xyz": xyz, "gripper": gripper, "tol": tol, "step_clip": step_clip, "max_steps": max_steps, "target_yaw": target_yaw, "yaw_step_clip": yaw_step_clip, "action_scale": action_scale}))

    def move_pose(self, xyz, *, target_pitch=None, target_yaw=None, gripper=-1.0, step_clip=0.02, pitch_step=0.08, yaw_step=0.08, tol=0.012, ori_tol=0.05, max_steps=150, action_scale=0.05):
        """Goes to xyz and turns to the given angles at the same time; gets into low or deep places where move_to stalls. Ends when position and given angles are reached, or after max_steps.

        xyz (3 floats, m): where the gripper's centre goes
        target_pitch (float, rad, or None): tilt to turn to: 0 points straight down, +pi/2 along +y, -pi/2 along -y
        target_yaw (float, rad, or None): yaw to turn to, about the vertical axis
        gripper (float or "hold"): command during the whole call, from -1 (open) to +1 (close); "hold" repeats the last one that was not 0
        step_clip (float, m): cap on what one control step commands, for each axis
        pitch_step (float, rad): the same for pitch
        yaw_step (float, rad): the same for yaw
        tol (float, m): error that counts as reached
        ori_tol (float, rad): the same for angles
        max_steps (int): control steps at most
        action_scale (float, m): what an action of 1.0 commands; leave it

        Returns MovePose.
        ValueError: an argument is not allowed; nothing moved.
        EpisodeFinished: the episode is over; nothing moved.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return MovePose(_call("move_pose", {"xyz": xyz, "target_pitch": target_pitch, "target_yaw": target_yaw, "gripper": gripper, "step_clip": step_clip, "pitch_step": pitch_step, "yaw_step": yaw_step, "tol": tol, "ori_tol": ori_tol, "max_steps": max_steps, "action_scale": action_scale}))

    def rotate_wrist(self, target_yaw=None, delta_yaw=None, gripper=1.0, max_steps=40, tol=0.02, step_clip=0.1):
        """Turns about the vertical axis in place.

        target_yaw (float, rad, or None): yaw to turn to, about the vertical axis
        delta_yaw (float, rad, or None): turn from the present yaw
        gripper (float or "hold"): command during the whole call, from -1 (open) to +1 (close); "hold" repeats the last one that was not 0
        max_steps (int): control steps at most
        tol (float, rad): error that counts as reached
        step_clip (float, rad): cap on what one control step commands, for each axis

        Returns Rotation.
        ValueError: an argument is not allowed; nothing moved.
        EpisodeFinished: the episode is over; nothing moved.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return Rotation(_call("rotate_wrist", {"target_yaw": target_yaw, "delta_yaw": delta_yaw, "gripper": gripper, "max_steps": max_steps, "tol": tol, "step_clip": step_clip}))

    def rotate_pitch(self, target_pitch=None, delta_pitch=None, gripper=1.0, max_steps=40, tol=0.02, step_clip=0.1):
        """Tilts about the world's x axis in place.

        target_pitch (float, rad, or None): tilt to turn to: 0 points straight down, +pi/2 along +y, -pi/2 along -y
        delta_pitch (float, rad, or None): turn from the present pitch
        gripper (float or "hold"): command during the whole call, from -1 (open) to +1 (close); "hold" repeats the last one that was not 0
        max_steps (int): control steps at most
        tol (float, rad): error that counts as reached
        step_clip (float, rad): cap on what one control step commands, for each axis

        Returns Rotation.
        ValueError: an argument is not allowed; nothing moved.
        EpisodeFinished: the episode is over; nothing moved.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return Rotation(_call("rotate_pitch", {"target_pitch": target_pitch, "delta_pitch": delta_pitch, "gripper": gripper, "max_steps": max_steps, "tol": tol, "step_clip": step_clip}))

    def set_gripper(self, gripper, steps=5):
        """Drives the gripper while the arm stays where it is.

        gripper (float or "hold"): command during the whole call, from -1 (open) to +1 (close); "hold" repeats the last one that was not 0
        steps (int): control steps to drive it for

        Returns Gripper.
        ValueError: an argument is not allowed; nothing moved.
        EpisodeFinished: the episode is over; nothing moved.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return Gripper(_call("set_gripper", {"gripper": gripper, "steps": steps}))

    def release(self, max_steps=20):
        """Opens the gripper where it is; ends early when that solves the task.

        max_steps (int): control steps at most

        Returns Release.
        ValueError: an argument is not allowed; nothing moved.
        EpisodeFinished: the episode is over; nothing moved.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return Release(_call("release", {"max_steps": max_steps}))

    def pi0_pick(self, prompt, *, max_chunks=24, lift_thresh=0.05, gripper_closed_thresh=0.06, gripper_open_thresh=0.0, descent_thresh=0.1):
        """Lets the Pi0.5 policy grasp, closed loop. Stops once the gripper has gone down by descent_thresh, then up by lift_thresh, with its opening in [gripper_open_thresh, gripper_closed_thresh).

        prompt (str): what the policy is told to do
        max_chunks (int): action chunks at most, 5 control steps each
        lift_thresh (float, m)
        gripper_closed_thresh (float, m)
        gripper_open_thresh (float, m)
        descent_thresh (float, m)

        Returns Pick.
        ValueError: an argument is not allowed; nothing moved.
        EpisodeFinished: the episode is over; nothing moved.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return Pick(_call("pi0_pick", {"prompt": prompt, "max_chunks": max_chunks, "lift_thresh": lift_thresh, "gripper_closed_thresh": gripper_closed_thresh, "gripper_open_thresh": gripper_open_thresh, "descent_thresh": descent_thresh}))

    def pi0_doubled(self, prompt, *, max_chunks=20):
        """Lets the Pi0.5 policy do a contact skill that is no pick: a knob, a drawer, a door, a short push. Stops when the task is solved or after max_chunks.

        prompt (str): what the policy is told to do
        max_chunks (int): action chunks at most, 5 control steps each

        Returns Contact.
        ValueError: an argument is not allowed; nothing moved.
        EpisodeFinished: the episode is over; nothing moved.
        ToolError: the robot or its controller failed or did not answer in time.
        """
        return Contact(_call("pi0_doubled", {"prompt": prompt, "max_chunks": max_chunks}))
