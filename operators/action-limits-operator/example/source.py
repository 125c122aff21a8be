"""Sends actions and targets, good and bad, and ends."""

import math

import pyarrow as pa
from dora import Node

node = Node()
for action in ([0.5, -1.0, 1.0], [0.5, 1.5, 0.0], [math.nan]):
    node.send_output("action", pa.array(action, pa.float64()))
for target in ([0.1, 0.0, 0.4], [0.1, 0.0, 1.4]):
    node.send_output("target", pa.array(target, pa.float64()))
node.send_output("action", pa.array(["up"]))
