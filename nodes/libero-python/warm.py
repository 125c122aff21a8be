"""Plays a moment of one task, so that the compiled parts of robosuite are on the disk."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "kit/python"))
from reference import Scene

scene = Scene("libero_spatial", 0)
scene.reset(seed=0, settle=1)
scene.step([0.0, 0.0, 0.1, 0.0, 0.0, 0.1, 1.0])
