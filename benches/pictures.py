"""What a picture costs in MuJoCo's Python renderer, to compare with the example bench_pictures.

    ~/.cache/ruaflow/libero-python/bin/python benches/pictures.py [SUITE TASK PICTURES]

Same states, cameras and sizes, colour and depth; wall and CPU milliseconds a picture.
"""

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "kit/python"), str(ROOT / "nodes/libero-python")]

from painter import CAMERAS, Painter  # noqa: E402
from reference import Scene  # noqa: E402

ACTION = [0.2, 0.1, -0.5, 0.0, 0.0, 0.2, -1.0]


def main(suite="libero_spatial", task="0", pictures="20"):
    scene, pictures = Scene(suite, int(task)), int(pictures)
    scene.reset(seed=0, settle=15)
    states = []
    for _ in range(10):
        scene.step(ACTION)
        states.append(scene.state())
    painter = Painter(scene)
    print("camera     side  pictures/s  wall ms  cpu ms")
    for camera in CAMERAS:
        for side in (256, 1024):
            wanted = {"camera": camera, "width": side, "height": side, "control_step": 0}
            request = wanted | {"depth": True, "segmentation": False}
            painter.picture(states[0], request)
            wall, cpu = time.perf_counter(), time.process_time()
            for number in range(pictures):
                painter.picture(states[number % len(states)], request)
            wall = 1e3 * (time.perf_counter() - wall) / pictures
            cpu = 1e3 * (time.process_time() - cpu) / pictures
            print(f"{camera:10} {side:4}  {1e3 / wall:10.1f}  {wall:7.1f} {cpu:7.1f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
