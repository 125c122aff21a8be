"""A robot in Python: the topics by hand, without the kit.

A hand that floats where it is told, seen from above. `Hand` is the robot, the
rest is what any robot in Python needs; docs/adding-a-robot.md explains it.

    ./rua check-robot nodes/robot-template/python/robot_template.py
"""

import json
import math
import sys
from pathlib import Path

import numpy as np
from dora import Node

sys.path.insert(0, str(Path(__file__).parents[3] / "schemas/python"))
from ruaflow_schemas import decode, encode, stamp

# The node's id in the dataflow, which dora does not tell its Python nodes.
NAME = "robot-template"
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


class Refused(Exception):
    """Nothing moved, and why."""


class RobotNode:
    """The robot's side of the dataflow."""

    def __init__(self):
        self.node = Node()
        self.run, self.episode, self.seqs = "", -1, {}
        self.card, self.hands, self.last = None, [], None
        self.over, self.stopped = False, False

    def serve(self):
        for event in self.node:
            if event["type"] == "STOP":
                return
            if event["type"] == "INPUT_CLOSED":
                # Before the planner's `shutdown`, so whoever commands this robot has died.
                sys.exit(f"input {event['id']!r} closed: its node died")
            if event["type"] != "INPUT":
                continue
            topic = event["id"].split("-")[0]
            if topic not in ("event", "reset", "action", "frame_request"):
                continue
            (row,) = decode(topic, event["metadata"], event["value"])
            if topic == "event" and self.take_event(row) == "shutdown":
                return
            if topic == "reset":
                self.episode = event["metadata"]["episode"]
                self.reset(row)
            if topic == "action":
                self.action(row)
            if topic == "frame_request":
                self.frame(row)

    def send(self, topic, **fields):
        seq = self.seqs[topic] = self.seqs.get(topic, -1) + 1
        self.node.send_output(
            topic, encode(topic, fields), stamp(topic, self.run, self.episode, seq)
        )

    def say(self, kind, message="", **data):
        self.send("event", kind=kind, node=NAME, message=message, data=json.dumps(data))

    def take_event(self, event):
        data = json.loads(event["data"] or "{}")
        if event["kind"] == "run":
            self.run = data["run"]
            self.say("ready")
        elif event["kind"] == "stopped":
            self.stopped = True  # A real robot stops its motors here.
        elif event["kind"] == "ended":
            self.over = True  # And here.
            self.say("flushed", episode=self.episode, batches=0)
        return event["kind"]

    def reset(self, reset):
        if self.card is None or self.card["id"] != reset["id"]:
            hand = Hand(reset["seed"])
            self.hands, self.over = [hand], False
            self.last = self.measure(hand, action_id=0)
            limits = [limit for limit in (1000, reset["max_control_steps"]) if limit]
            self.card = {
                "id": reset["id"],
                "error": "a person has stopped the robot" if self.stopped else "",
                "robot": "template",
                "suite": reset["suite"],
                "task": reset["task"],
                "seed": reset["seed"],
                "instruction": "wave to the camera",
                "object_names": [],
                "cameras": [CAMERA],
                "arms": [ARM],
                "control_hz": float(CONTROL_HZ),
                "clock": "sim",
                "max_control_steps": min(limits),
                "budget_ms": 0,
                "judged": False,
                "settle": reset["settle"],
                "first": self.last,
            }
        self.send("card", **self.card)

    def action(self, action):
        # The answer was lost on its way: say it again, don't move again.
        if self.last and action["id"] == self.last["action_id"] > 0:
            self.send("observation", **self.last)
            return
        try:
            self.check(action)
        except Refused as refusal:
            self.say("refused", str(refusal), action_id=action["id"])
            return
        hand = self.hands[-1].copy()
        hand.step(np.array(action["values"]), action["gripper"])
        self.hands.append(hand)
        self.last = self.measure(hand, action["id"])
        self.send("observation", **self.last)

    def check(self, action):
        if self.card is None or self.card["error"]:
            raise Refused("no episode: the robot waits for a reset")
        if self.stopped:
            raise Refused("a person has stopped the robot")
        if self.over or self.last["truncated"]:
            raise Refused("the episode is over")
        if action["id"] <= self.last["action_id"]:
            raise Refused("action ids increase within an episode")
        if action["arm"] != ARM["name"]:
            raise Refused(f"no arm {action['arm']!r}")
        if action["kind"] not in ARM["action_kinds"]:
            raise Refused(f"no actions of kind {action['kind']!r}")
        if len(action["values"]) != 6:
            raise Refused(f"an action has 6 values, got {len(action['values'])}")
        if not all(abs(value) <= 1 for value in [*action["values"], action["gripper"]]):
            raise Refused("values and gripper must be finite and within [-1, 1]")

    def measure(self, hand, action_id):
        step = len(self.hands) - 1
        return {
            "control_step": step,
            "action_id": action_id,
            "time_ns": step * 1_000_000_000 // CONTROL_HZ,
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
            "truncated": step > 0 and step >= self.card["max_control_steps"],
            "success": False,
        }

    def frame(self, request):
        latest = len(self.hands) - 1
        step = latest if request["control_step"] == -1 else request["control_step"]
        width, height = request["width"] or CAMERA["width"], request["height"] or CAMERA["height"]
        error, picture = "", {"width": 0, "height": 0, "color": b"", "depth": []}
        if request["camera"] != CAMERA["name"]:
            error = f"no camera {request['camera']!r}; cameras: {CAMERA['name']}"
        elif not 0 <= step <= latest:
            error = f"no control step {request['control_step']}; the latest is {latest}"
        elif max(width, height) > 4096:
            error = f"{width} x {height} pixels are too many"
        else:
            picture = self.hands[step].picture(width, height)
        if not request["depth"]:
            picture["depth"] = []
        answer = {
            "id": request["id"],
            "error": error,
            "camera": request["camera"],
            "control_step": max(step, 0),
            "time_ns": max(step, 0) * 1_000_000_000 // CONTROL_HZ,
            "segmentation": [],
            "instances": [],
            "intrinsics": [0] * 9,
            "camera_to_world": [0] * 16,
        }
        self.send("frame", **answer | picture)


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
    RobotNode().serve()
