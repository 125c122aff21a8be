"""A robot in Python, on the kit's Python side.

A hand that floats where it is told, seen from above. `Hand` is the robot, `Template`
what the dataflow asks of it; docs/adding-a-robot.md explains it.

    ./rua check-robot nodes/robot-template/python/robot_template.py
"""

import math
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[3] / "kit/python"))
from ruaflow_kit import Robot, serve

CONTROL_HZ = 20
EYE_HEIGHT = 2.0
FOV_Y = 0.8
CAMERA = {
    "name": "top",
    "width": 128,
    "height": 96,
    "fov_y": FOV_Y,
    "depth": True,
    "any_step": True,
}
ARM = {
    "name": "arm",
    "joints": ["x", "y", "z", "roll", "pitch", "yaw"],
    "action_kinds": ["osc_pose_delta"],
    "position_scale": 0.05,
    "rotation_scale": 0.5,
    "gripper_open": 0.08,
    "workspace": [-0.6, -0.6, 0.0, 0.6, 0.6, 0.9],
}


class Hand:
    """The robot: replace this."""

    def __init__(self, seed):
        self.position = np.array([0.3, 0.02 * (seed % 7) - 0.06, 0.4])
        self.quaternion = np.array([1.0, 0.0, 0.0, 0.0])
        self.opening = 0.08

    def step(self, values, gripper):
        self.position = np.clip(
            self.position + 0.05 * values[:3], ARM["workspace"][:3], ARM["workspace"][3:]
        )
        self.quaternion = turned(0.5 * values[3:], self.quaternion)
        self.opening = min(max(self.opening - 0.016 * gripper, 0.0), 0.08)

    def angles(self):
        """Roll, pitch and yaw, radians."""
        x, y, z, w = self.quaternion
        return [
            math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
            math.asin(min(max(2 * (w * y - z * x), -1), 1)),
            math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
        ]

    def copy(self):
        other = Hand(0)
        other.position, other.quaternion, other.opening = (
            self.position,
            self.quaternion,
            self.opening,
        )
        return other

    def picture(self, width, height):
        """Colour and depth from straight above: a disc over a floor."""
        focal = 0.5 * height / math.tan(FOV_Y / 2)
        depth = np.full((height, width), EYE_HEIGHT, np.float32)
        color = np.full((height, width, 3), (170, 170, 165), np.uint8)
        # Right is -y and down is -x of the world: see camera_to_world below.
        distance = EYE_HEIGHT - self.position[2]
        col = 0.5 * width - focal * self.position[1] / distance
        row = 0.5 * height - focal * self.position[0] / distance
        rows, cols = np.mgrid[0:height, 0:width] + 0.5
        disc = np.hypot(rows - row, cols - col) < focal * 0.05 / distance
        depth[disc], color[disc] = distance, (230, 140, 50)
        return {
            "width": width,
            "height": height,
            "color": color.tobytes(),
            "depth": depth.ravel(),
            "intrinsics": [focal, 0, 0.5 * width, 0, focal, 0.5 * height, 0, 0, 1],
            "camera_to_world": [0, -1, 0, 0, -1, 0, 0, 0, 0, 0, -1, EYE_HEIGHT, 0, 0, 0, 1],
        }


class Template(Robot):
    """What the dataflow asks of a robot: where the hand was at each control step."""

    def reset(self, reset):
        self.hands = [Hand(reset["seed"])]
        return {
            "robot": "template",
            "instruction": "wave to the camera",
            "object_names": [],
            "cameras": [CAMERA],
            "arms": [ARM],
            "control_hz": float(CONTROL_HZ),
            "clock": "sim",
            "max_control_steps": 1000,
            "judged": False,
            "first": self.measure(),
        }

    def step(self, action):
        hand = self.hands[-1].copy()
        hand.step(np.array(action["values"]), action["gripper"])
        self.hands.append(hand)
        return self.measure()

    def hold(self):
        """A real robot stops its motors here."""

    def frame(self, request):
        step = request["control_step"]
        picture = self.hands[step].picture(request["width"], request["height"])
        if not request["depth"]:
            picture["depth"] = []
        return picture | {"control_step": step, "time_ns": nanoseconds(step)}

    def measure(self):
        hand = self.hands[-1]
        return {
            "time_ns": nanoseconds(len(self.hands) - 1),
            "arms": [
                {
                    "name": ARM["name"],
                    "joint_pos": [*hand.position, *hand.angles()],
                    "joint_vel": [],
                    "eef_pos": hand.position.tolist(),
                    "eef_quat": hand.quaternion.tolist(),
                    "gripper_qpos": [hand.opening / 2, -hand.opening / 2],
                    "gripper_opening": hand.opening,
                }
            ],
            "base_pose": None,
            "terminated": False,
            "truncated": False,
            "success": False,
        }


def nanoseconds(step):
    return step * 1_000_000_000 // CONTROL_HZ


def turned(rotation, quaternion):
    """A quaternion `xyzw` turned by a rotation vector in the world frame."""
    angle = np.linalg.norm(rotation)
    if angle == 0:
        return quaternion
    axis, w = rotation / angle * math.sin(angle / 2), math.cos(angle / 2)
    vector, scalar = quaternion[:3], quaternion[3]
    out = np.append(w * vector + scalar * axis + np.cross(axis, vector), w * scalar - axis @ vector)
    return out / np.linalg.norm(out)


if __name__ == "__main__":
    serve(Template())
