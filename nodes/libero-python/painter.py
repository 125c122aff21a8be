"""Pictures of any control step, by MuJoCo's own Python renderer."""

import math

import numpy as np
from environment import mujoco
from reference import STATE, Scene
from ruaflow_kit import Refused

CAMERAS = {"agentview": "agentview", "wrist": "robot0_eye_in_hand"}
# The benchmark's limit of visible geoms.
MAX_GEOMS = 1000
MAX_SIDE = 2048
GEOM = int(mujoco.mjtObj.mjOBJ_GEOM)


class Painter:
    """Renders states of a scene, with data of its own; the GL context comes with the first picture."""

    def __init__(self, scene: Scene):
        self.scene, self.model = scene, scene.model
        self.data = mujoco.MjData(self.model)
        self.context = None

    def picture(self, state: dict, request: dict) -> dict:
        width, height = request["width"], request["height"]
        if max(width, height) > MAX_SIDE:
            raise Refused(f"a picture of {width} x {height} pixels is not possible")
        self.open()
        name = CAMERAS[request["camera"]]
        camera = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_CAMERA, name)
        shown = self.scene.state()["visuals"]
        self.scene.show(state["visuals"])
        mujoco.mj_setState(self.model, self.data, state["integration"], STATE)
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)
        self.look(camera)
        self.scene.show(shown)

        color, buffer = self.draw(width, height)
        depth_range = self.depth_range()
        focal = 0.5 * height / math.tan(0.5 * math.radians(self.model.cam_fovy[camera]))
        picture = {
            "control_step": request["control_step"],
            "time_ns": state["time_ns"],
            "width": width,
            "height": height,
            "color": color.tobytes(),
            "depth": metres(buffer, *depth_range).ravel() if request["depth"] else [],
            "depth_range": depth_range,
            "intrinsics": [focal, 0, 0.5 * width, 0, focal, 0.5 * height, 0, 0, 1],
            "camera_to_world": self.camera_to_world(camera),
        }
        if request["segmentation"]:
            names, labels = self.labels(width, height)
            picture |= {"instances": names, "segmentation": labels.ravel()}
        return picture

    def open(self) -> None:
        if self.context is not None:
            return
        try:
            # Pictures are drawn into MuJoCo's own buffer; the surface only has to exist.
            self.gl = mujoco.GLContext(1, 1)
            self.gl.make_current()
        except Exception as error:
            raise Refused(f"no EGL context for rendering: {error}") from error
        self.context = mujoco.MjrContext(self.model, mujoco.mjtFontScale.mjFONTSCALE_150)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self.context)
        self.seen = mujoco.MjvScene(self.model, maxgeom=MAX_GEOMS)
        self.options = mujoco.MjvOption()
        # robosuite's groups: 0 collides, 1 is seen.
        self.options.geomgroup[0], self.options.geomgroup[1] = 0, 1

    def look(self, camera: int) -> None:
        """Makes the scene ready for a camera."""
        view = mujoco.MjvCamera()
        view.type, view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, camera
        everything = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(
            self.model, self.data, self.options, None, view, everything, self.seen
        )

    def draw(self, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
        """Colour and the depth buffer, top row first."""
        self.gl.make_current()
        if width > self.context.offWidth or height > self.context.offHeight:
            size = max(width, self.context.offWidth), max(height, self.context.offHeight)
            mujoco.mjr_resizeOffscreen(*size, self.context)
        viewport = mujoco.MjrRect(0, 0, width, height)
        color = np.empty((height, width, 3), np.uint8)
        buffer = np.empty((height, width), np.float32)
        mujoco.mjr_render(viewport, self.seen, self.context)
        mujoco.mjr_readPixels(color, buffer, viewport, self.context)
        return np.ascontiguousarray(color[::-1]), np.ascontiguousarray(buffer[::-1])

    def labels(self, width: int, height: int) -> tuple[list[str], np.ndarray]:
        """Names of the instances, and the label of each pixel: 0 the room, 1 the robot."""
        flags = mujoco.mjtRndFlag.mjRND_SEGMENT, mujoco.mjtRndFlag.mjRND_IDCOLOR
        for flag in flags:
            self.seen.flags[flag] = 1
        color, _ = self.draw(width, height)
        for flag in flags:
            self.seen.flags[flag] = 0
        inner = self.scene.inner
        names = ["robot", *inner.objects_dict, *inner.fixtures_dict]
        instances = inner.model.geom_ids_to_instances
        label_of_geom = {
            geom: names.index(name) + 1 if name in names else 1 for geom, name in instances.items()
        }
        label_of_id = np.zeros(self.seen.ngeom + 1, np.uint32)
        for geom in self.seen.geoms[: self.seen.ngeom]:
            if geom.segid >= 0 and geom.objtype == GEOM:
                label_of_id[geom.segid + 1] = label_of_geom.get(geom.objid, 0)
        packed = color.astype(np.uint32) @ np.array([1, 1 << 8, 1 << 16], np.uint32)
        packed[packed > self.seen.ngeom] = 0
        return names, label_of_id[packed]

    def depth_range(self) -> list[float]:
        """The camera's clipping planes, metres."""
        extent, planes = float(self.model.stat.extent), self.model.vis.map
        return [float(planes.znear) * extent, float(planes.zfar) * extent]

    def camera_to_world(self, camera: int) -> list[float]:
        """4 x 4 by rows; MuJoCo's camera looks along -z with y up."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.data.cam_xmat[camera].reshape(3, 3) * [1, -1, -1]
        matrix[:3, 3] = self.data.cam_xpos[camera]
        return matrix.ravel().tolist()


def metres(buffer: np.ndarray, near: float, far: float) -> np.ndarray:
    """Depth along the optical axis; not a number where nothing was seen."""
    wide = buffer.astype(np.float64)
    depth = (near / (1.0 - wide * (1.0 - near / far))).astype(np.float32)
    depth[buffer >= 1.0] = np.nan
    return depth
