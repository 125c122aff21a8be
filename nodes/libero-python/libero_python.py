"""The Python reference of LIBERO as a robot of the dataflow.

Same topics as the node `libero`, so that the same policy runs on both.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "kit/python"))
from painter import CAMERAS, Painter
from reference import HORIZON, Scene
from ruaflow_kit import Refused, Robot, serve, setting

ARM = {
    "name": "panda",
    "joints": [f"joint{number}" for number in range(1, 8)],
    "action_kinds": ["osc_pose_delta"],
    "position_scale": 0.05,
    "rotation_scale": 0.5,
    "gripper_open": 0.08,
    "workspace": None,
}
PIXELS = 256


class LiberoPython(Robot):
    """A Panda arm in a LIBERO scene, one episode after another."""

    resumes = True

    def __init__(self):
        self.scene, self.painter, self.states = None, None, []
        self.pictures = setting("PICTURES") != "off"

    def reset(self, reset):
        wanted = (reset["suite"], reset["task"])
        if self.scene is None or (self.scene.suite, self.scene.task) != wanted:
            self.scene = self.painter = None
            self.scene = Scene(*wanted)
        if reset["state"] is None:
            self.scene.reset(reset["seed"], reset["settle"])
        else:
            self.scene.begin_at(reset["seed"], reset["state"])
        # Each reset compiles the model anew.
        self.painter = Painter(self.scene) if self.pictures else None
        self.states = [self.scene.state()]
        return {
            "robot": "libero",
            "instruction": self.scene.instruction,
            "object_names": self.scene.movable,
            "cameras": [self.camera(name) for name in CAMERAS],
            "arms": [ARM],
            "control_hz": 20.0,
            "clock": "sim",
            "max_control_steps": HORIZON,
            "judged": True,
            "first": self.measure(),
        }

    def step(self, action):
        self.scene.step([*action["values"], action["gripper"]])
        self.states.append(self.scene.state())
        return self.measure()

    def state(self):
        return self.states[-1]

    def frame(self, request):
        if self.painter is None:
            raise Refused("this run makes no pictures: PICTURES is off")
        return self.painter.picture(self.states[request["control_step"]], request)

    def camera(self, name):
        return {
            "name": name,
            "width": PIXELS,
            "height": PIXELS,
            "fov_y": self.scene.field_of_view(CAMERAS[name]),
            "depth": True,
            "any_step": True,
        }

    def measure(self):
        return {
            "time_ns": self.states[-1]["time_ns"],
            "arms": [{"name": ARM["name"], **self.scene.arm()}],
            "base_pose": None,
            "terminated": self.scene.success,
            "truncated": False,
            "success": self.scene.success,
        }


if __name__ == "__main__":
    serve(LiberoPython())
