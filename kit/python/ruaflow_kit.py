"""The robot's side of the dataflow for robots in Python, as `serve` in kit/src/robot.rs.

A robot implements the methods of `Robot` and calls `serve`. Ids, refusals, latches,
the journal, the emergency stop and the end of the run are done here.
docs/adding-a-robot.md walks through it.
"""

import json
import math
import os
import re
import sys
import time
from pathlib import Path

import pyarrow as pa
from dora import Node

sys.path.insert(0, str(Path(__file__).parents[2] / "schemas/python"))
from ruaflow_schemas import SCHEMAS, decode, encode, stamp

TOPICS = ("reset", "action", "frame_request", "receipt", "event")
LENGTHS = {"osc_pose_delta": 6, "eef_pose": 7, "base_velocity": 3}
MAX_SIDE = 4096
# The journal sends what waits this long, and so many rows of a topic at once.
MAX_AGE_S = 0.1
MAX_ROWS = 64


class Refused(Exception):
    """Nothing moved, there is no scene or no picture; the text says why."""


class Failed(Exception):
    """The robot can't go on; the run ends with this text."""


class Robot:
    """What a robot does. Rows are dicts with the fields of schemas/README.md."""

    # Whether `reset` can begin in a recorded state, `reset["state"]`.
    resumes = False

    def reset(self, reset: dict) -> dict:
        """Sets the scene; gives the card with `first`, without what the reset says already."""
        raise NotImplementedError

    def step(self, action: dict) -> dict:
        """One control step; gives the observation, without its counts and latches."""
        raise NotImplementedError

    def state(self) -> dict | None:
        """The simulator's whole state after the last control step."""
        return None

    def hold(self) -> None:
        """Stands still until the next reset."""

    def frame(self, request: dict) -> dict:
        """A picture; its size and control step are filled in, its camera is on the card."""
        raise Refused("this robot takes no pictures")


def serve(robot: Robot) -> None:
    """Runs the robot's node until the run is over; exits with a failure when it must."""
    Session(robot).run()


def setting(name: str) -> str | None:
    """A setting of the run; none when it is empty or not set."""
    path = os.environ.get("RUA_SETTINGS")
    values = json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
    return values.get(name, os.environ.get(name, "")) or None


class Session:
    """A robot and where its episode stands."""

    def __init__(self, robot: Robot):
        self.robot = robot
        self.node = Node()
        config = os.environ.get("DORA_NODE_CONFIG", "")
        self.name = re.search(r"^node_id: (.+)$", config, re.MULTILINE)[1].strip("'\"")
        self.journal = Journal(self) if re.search(r"^  - record$", config, re.MULTILINE) else None
        self.run_id, self.episode, self.seqs = "", -1, {}
        self.card, self.last = None, None
        self.over, self.stopped = False, False
        self.asked, self.rendered = 0, 0

    def run(self) -> None:
        while True:
            event = self.node.next(MAX_AGE_S)
            if self.journal:
                self.journal.flush_when_due()
            if event is None or event["type"] == "STOP":
                return
            if event["type"] == "INPUT_CLOSED":
                # Before the planner's `shutdown`, so whoever commands this robot has died.
                self.robot.hold()
                sys.exit(f"input {event['id']!r} closed: its node died")
            topic = event.get("id", "").split("-")[0]
            if event["type"] != "INPUT" or topic not in TOPICS:
                continue
            (row,) = decode(topic, event["metadata"], event["value"])
            if topic == "reset":
                # May overtake the planner's `started`.
                self.episode = event["metadata"]["episode"]
            if getattr(self, f"take_{topic}")(row) == "shutdown":
                if self.journal:
                    self.journal.flush()
                return

    # Sending.

    def send(self, topic: str, row: dict, record: bool = True) -> None:
        seq = self.next_seq(topic)
        metadata = stamp(topic, self.run_id, self.episode, seq)
        self.node.send_output(topic, encode(topic, row), metadata)
        if record and self.journal:
            self.journal.push(topic, seq, row)

    def record(self, topic: str, row: dict) -> None:
        if self.journal:
            self.journal.push(topic, self.next_seq(topic), row)

    def next_seq(self, topic: str) -> int:
        seq = self.seqs[topic] = self.seqs.get(topic, -1) + 1
        return seq

    def event(self, kind: str, message: str = "", **data) -> dict:
        return {"kind": kind, "node": self.name, "message": message, "data": json.dumps(data)}

    def say(self, kind: str, message: str = "", **data) -> None:
        self.send("event", self.event(kind, message, **data))

    # Receiving.

    def take_event(self, event: dict) -> str:
        data = json.loads(event["data"] or "{}")
        kind = event["kind"]
        if kind == "run":
            self.run_id = data["run"]
            self.say("ready")
        elif kind == "started":
            self.episode = data["episode"]
        elif kind == "stopped":
            self.stopped = True
            self.robot.hold()
        elif kind == "ended":
            self.over = True
            self.robot.hold()
            if self.journal:
                self.journal.flush()
            batches = self.journal.batches if self.journal else 0
            self.say("flushed", episode=self.episode, batches=batches)
        elif kind == "shutdown":
            self.robot.hold()
        return kind

    def take_receipt(self, receipt: dict) -> None:
        if self.journal and receipt["node"] == self.name:
            self.journal.receipt(receipt["through"], receipt["missing"])

    def take_reset(self, reset: dict) -> None:
        if self.card is not None and self.card["id"] == reset["id"]:
            self.send("card", self.card)
            return
        self.over, self.last, self.asked, self.rendered = False, None, 0, 0
        said = {name: reset[name] for name in ("id", "suite", "task", "seed")}
        said["settle"] = reset["settle"] if reset["state"] is None else 0
        try:
            if self.stopped:
                raise Refused("a person has stopped the robot; start a new run")
            if reset["state"] is not None and not self.robot.resumes:
                raise Refused("this robot can't begin in a recorded state")
            card = self.robot.reset(reset)
        except Refused as refusal:
            self.card = empty("card") | said | {"error": str(refusal)}
            self.send("card", self.card)
            return
        first = card["first"] | {"control_step": 0, "action_id": 0}
        limits = [
            limit for limit in (card["max_control_steps"], reset["max_control_steps"]) if limit
        ]
        fixed = {"error": "", "budget_ms": 0, "first": first}
        self.card = card | said | fixed | {"max_control_steps": min(limits, default=0)}
        self.last = first
        self.send("card", self.card)
        self.record("observation", first)
        self.record_state()

    def take_action(self, action: dict) -> None:
        # The answer was lost on its way: say it again, don't move again.
        if self.last and action["id"] == self.last["action_id"] > 0:
            self.send("observation", self.last, record=False)
            return
        try:
            self.admit(action)
            measured = self.robot.step(action)
        except Refused as refusal:
            self.say("refused", str(refusal), action_id=action["id"])
            return
        except Failed as failure:
            self.robot.hold()
            self.say("refused", str(failure), action_id=action["id"])
            self.say("error", str(failure))
            sys.exit(str(failure))
        step = self.last["control_step"] + 1
        latched = {name: measured[name] or self.last[name] for name in ("terminated", "success")}
        limit = self.card["max_control_steps"]
        out_of_steps = 0 < limit <= step and not latched["terminated"]
        truncated = measured["truncated"] or self.last["truncated"] or out_of_steps
        counts = {"control_step": step, "action_id": action["id"], "truncated": truncated}
        self.last = measured | latched | counts
        self.send("observation", self.last)
        self.record_state()

    def admit(self, action: dict) -> None:
        if self.last is None:
            raise Refused("no episode: the robot waits for a reset")
        if self.stopped:
            raise Refused("a person has stopped the robot")
        if self.over or self.last["terminated"] or self.last["truncated"]:
            raise Refused("the episode is over")
        if action["id"] <= self.last["action_id"]:
            raise Refused("action ids increase within an episode")
        arm = next((arm for arm in self.card["arms"] if arm["name"] == action["arm"]), None)
        if arm is None:
            raise Refused(f"no arm {action['arm']!r}")
        kind, values = action["kind"], action["values"]
        if kind not in arm["action_kinds"]:
            raise Refused(f"arm {arm['name']!r} takes no action of kind {kind!r}")
        wanted = LENGTHS.get(kind, len(arm["joints"]))
        if len(values) != wanted:
            raise Refused(f"an action of kind {kind!r} has {wanted} values, got {len(values)}")
        if not all(math.isfinite(value) for value in values):
            raise Refused("values must be finite")
        if kind == "osc_pose_delta" and not all(abs(value) <= 1 for value in values):
            raise Refused("values must be within [-1, 1]")
        if not abs(action["gripper"]) <= 1:
            raise Refused("gripper must be within [-1, 1]")

    def record_state(self) -> None:
        state = self.robot.state()
        if state is not None:
            self.record("state", state | {"control_step": self.last["control_step"]})

    def take_frame_request(self, request: dict) -> None:
        answer = empty("frame") | {"id": request["id"], "camera": request["camera"]}
        try:
            answer |= self.robot.frame(self.complete(request))
            rendered = True
        except Refused as refusal:
            answer["error"] = str(refusal)
            rendered = False
        self.send("frame", answer, record=False)
        self.asked += 1
        self.rendered += rendered
        names = ("id", "camera", "control_step", "width", "height", "preview", "error")
        counts = {"asked_so_far": self.asked, "rendered_so_far": self.rendered}
        told = {name: answer[name] for name in names} | {"rendered": rendered} | counts
        self.record("event", self.event("picture", **told))

    def complete(self, request: dict) -> dict:
        """Fills in what a request leaves open."""
        if self.last is None:
            raise Refused("no scene: the robot has not been reset")
        cameras = {camera["name"]: camera for camera in self.card["cameras"]}
        camera = cameras.get(request["camera"])
        if camera is None:
            raise Refused(f"no camera {request['camera']!r}; cameras: {', '.join(cameras)}")
        latest, step = self.last["control_step"], request["control_step"]
        size = {side: request[side] or camera[side] for side in ("width", "height")}
        if max(size.values()) > MAX_SIDE:
            raise Refused(f"{size['width']} x {size['height']} pixels are too many")
        if step == -1:
            step = latest
        if not 0 <= step <= latest:
            raise Refused(f"no control step {step}; the latest is {latest}")
        if request["depth"] and not camera["depth"]:
            raise Refused(f"camera {camera['name']!r} measures no depth")
        return request | size | {"control_step": step}


class Journal:
    """Numbered batches of rows for the recorder, each kept until it is confirmed."""

    def __init__(self, session: Session):
        self.session = session
        self.waiting, self.kept = {}, {}
        self.batches = 0
        self.oldest = None

    def push(self, topic: str, seq: int, row: dict) -> None:
        self.oldest = self.oldest or time.monotonic()
        stamps = {"episode": self.session.episode, "seq": seq, "sent_ns": time.time_ns()}
        rows = self.waiting.setdefault(topic, [])
        rows.append(stamps | row)
        if len(rows) >= MAX_ROWS:
            self.take(topic)

    def flush_when_due(self) -> None:
        if self.oldest is not None and time.monotonic() >= self.oldest + MAX_AGE_S:
            self.flush()

    def flush(self) -> None:
        self.oldest = None
        for topic in list(self.waiting):
            self.take(topic)

    def receipt(self, through: int, missing: list[int]) -> None:
        self.kept = {number: batch for number, batch in self.kept.items() if number >= through}
        for number in missing:
            if number in self.kept:
                self.output(*self.kept[number])

    def take(self, topic: str) -> None:
        version, fields = SCHEMAS[topic]
        stamps = [("episode", pa.int64()), ("seq", pa.uint64()), ("sent_ns", pa.uint64())]
        columns = [pa.field(name, kind, nullable=False) for name, kind in stamps]
        rows = pa.array(self.waiting.pop(topic), type=pa.struct([*columns, *fields]))
        number, session = self.batches, self.session
        metadata = stamp(topic, session.run_id, session.episode, number) | {"batch": number}
        self.batches += 1
        self.kept[number] = (rows, metadata)
        self.output(rows, metadata)

    def output(self, rows: pa.Array, metadata: dict) -> None:
        self.session.node.send_output("record", rows, metadata)


def empty(topic: str) -> dict:
    """A row of a topic without anything in it."""
    return {field.name: nothing(field) for field in SCHEMAS[topic][1]}


def nothing(field: pa.Field):
    kind = field.type
    if field.nullable:
        return None
    if pa.types.is_struct(kind):
        return {inner.name: nothing(inner) for inner in kind}
    if pa.types.is_fixed_size_list(kind):
        return [0] * kind.list_size
    if pa.types.is_list(kind):
        return []
    if pa.types.is_string(kind):
        return ""
    if pa.types.is_large_binary(kind):
        return b""
    return False if pa.types.is_boolean(kind) else 0
