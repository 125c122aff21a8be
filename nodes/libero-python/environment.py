"""What must be set before MuJoCo and the benchmark are imported; MuJoCo itself."""

import os
import sys
from pathlib import Path

# Which kernels round decides where an object lies after a grasp; see docs/parity.md.
os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")

from ruaflow_kit import setting  # noqa: E402

HOME = Path(os.environ.get("RUAFLOW_HOME") or Path.home() / ".cache/ruaflow")

# The installed packages stay as they are, and nobody's own configuration counts.
sys.dont_write_bytecode = True
os.environ["NUMBA_CACHE_DIR"] = str(HOME / "cache/numba")
os.environ["LIBERO_CONFIG_PATH"] = str(HOME / "libero-python/config")
os.environ["MUJOCO_GL"] = "disable" if setting("PICTURES") == "off" else "egl"
if (device := setting("EGL_DEVICE")) is not None:
    if not device.isdigit():
        sys.exit(f"libero-python: setting EGL_DEVICE is {device!r}, expected a number")
    os.environ["MUJOCO_EGL_DEVICE_ID"] = device
sys.path.insert(0, str(HOME / "data/libero"))

import mujoco  # noqa: E402

__all__ = ["mujoco"]
