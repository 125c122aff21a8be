"""A recording: what the reference makes of one task, as the Rust side can be compared with it.

Numbers are hexadecimal bits of 64-bit floats (`reference.exact`).
"""

from pathlib import Path

import motions
import reference
from reference import Reference

SEEDS = [0, 53]
WANDER_STEPS = 100
CASES = 6
CASE_STEPS = 6
# Of a reset, what follows from the rest.
FOLLOWING = ("placed_qpos", "placed_warmstart", "xpos", "xquat", "site_xpos")
# Bytes up to which an array of the model has a checksum of its own.
SMALL = 1 << 20

# What of a model decides the physics; the Rust tests know the same list.
PHYSICS_FIELDS = """
    body_parentid body_rootid body_weldid body_jntnum body_jntadr body_dofnum body_dofadr
    body_pos body_quat body_ipos body_iquat body_mass body_inertia body_gravcomp
    jnt_type jnt_qposadr jnt_dofadr jnt_bodyid jnt_limited jnt_solref jnt_solimp jnt_pos
    jnt_axis jnt_stiffness jnt_range jnt_margin
    dof_solref dof_solimp dof_frictionloss dof_armature dof_damping
    geom_bodyid geom_contype geom_conaffinity geom_condim geom_group geom_priority
    geom_solmix geom_solref geom_solimp geom_friction geom_margin geom_gap
    site_bodyid site_size site_pos site_quat
    cam_bodyid cam_pos cam_quat cam_fovy
    actuator_trntype actuator_trnid actuator_gear actuator_ctrlrange actuator_forcerange
    actuator_gainprm actuator_biasprm
    exclude_signature qpos0
""".split()


def record(suite: str, task: int, seeds=SEEDS, pictures: Path | None = None) -> dict:
    """Runs a task in the reference. Pixels go into the folder `pictures`, if one is named."""
    python = Reference(suite, task)
    try:
        resets, runs = [], []
        for number, seed in enumerate(seeds):
            resets.append(python.reset(seed))
            if number == 0:
                model = whole_model(python)
                facts = {
                    "instruction": " ".join(python.env.env.parsed_problem["language_instruction"]),
                    "names": reference.names(python.model),
                    "things": python.things(),
                    "regions": python.regions(),
                    "physics": {
                        name: reference.checksum(getattr(python.model, name))
                        for name in PHYSICS_FIELDS
                    },
                }
                shown = save_pictures(python, pictures, "reset") if pictures else []
                wander = motions.wander(python, WANDER_STEPS, seed)
                runs.append({"what": "wander", "reset": number} | run(python, wander))
            else:
                script = motions.script(python)
                runs.append({"what": "script", "reset": number} | run(python, script))
        runs += [{"what": "edited"} | case for case in edited(python)]
        if pictures:
            last = save_pictures(python, pictures, "edited")
            runs[-1]["end"] = python.snapshot()
            shown += last
    finally:
        python.close()
    return {
        "suite": suite,
        "task": task,
        **facts,
        "goal": python.goal,
        "model": model,
        "resets": resets,
        "runs": runs,
        "pictures": shown,
    }


def run(python: Reference, actions) -> dict:
    """Steps through actions; positions, verdicts and whether the robot touches, step by step."""
    done, qpos, verdicts, touches = [], [], [], []
    for action in actions:
        said = python.step(action)
        if python.unstable():  # MuJoCo starts over by itself then
            break
        done.append([round(1000 * value) for value in action])
        qpos.append(reference.exact(python.data.qpos))
        verdicts.append("".join("01"[one] for one in said))
        touches.append(python.robot_touches())
    return {
        "actions": done,
        "qpos": {str(step + 1): value for step, value in enumerate(qpos)},
        "verdicts": verdicts,
        "touches": touches.index(True) + 1 if True in touches else None,
    }


def edited(python: Reference):
    """Scenes in which the goal nearly or just holds, each for a few steps."""
    import numpy as np

    rng = np.random.RandomState(len(python.goal))
    start = python.env.sim.get_state()
    for _ in range(CASES):
        python.env.sim.set_state(start)
        python.env.sim.forward()
        for array, index, value in motions.edits(python, rng):
            getattr(python.data, array)[index] = value
        python.env.sim.forward()
        begin = python.snapshot()
        actions = [motions.rounded(rng.uniform(-0.3, 0.3, 7)) for _ in range(CASE_STEPS)]
        result = run(python, actions)
        yield {"start": begin} | result | {"burners": burners(python)}


def burners(python: Reference) -> list[bool]:
    """Whether each stove's flame shows."""
    names = dict.fromkeys(python.env.env.visualization_sites_list)
    sites = [
        site
        for name in names
        for site, _ in python.env.env.get_object(name).object_properties["vis_site_names"].values()
    ]
    model = python.env.sim.model
    return [bool(model.site_rgba[model.site_name2id(site)][3] > 0) for site in sites]


def whole_model(python: Reference) -> dict:
    """Checksum of the compiled model's binary form, and of each of its arrays."""
    import mujoco
    import numpy as np

    model = python.model
    kept = model.site_rgba.copy()
    model.site_rgba[:] = python.placed_site_rgba
    binary = np.zeros(mujoco.mj_sizeModel(model), dtype=np.uint8)
    mujoco.mj_saveModel(model, None, binary)
    fields = {
        name: reference.checksum(array)
        for name, array in reference.array_fields(model).items()
        # Meshes and textures are only summed with the rest; the signature is each compilation's own.
        if name != "signature" and array.nbytes < SMALL
    }
    model.site_rgba[:] = kept
    return {
        "bytes": len(binary),
        "signature": int(model.signature),
        "checksum": reference.checksum(binary),
        "fields": fields,
    }


def save_pictures(python: Reference, folder: Path, when: str) -> list[dict]:
    folder.mkdir(parents=True, exist_ok=True)
    saved = []
    for camera, planes in python.pictures().items():
        files = {}
        for plane, array in planes.items():
            files[plane] = f"{when}.{camera}.{plane}"
            array.tofile(folder / files[plane])
        saved.append({"when": when, "camera": camera} | files)
    return saved


def thin(recorded: dict) -> dict:
    """What a test needs of a recording, without local paths: a twentieth of it."""
    edited = [one for one in recorded["runs"] if one["what"] == "edited"]
    runs = [one for one in recorded["runs"] if one["what"] != "edited"] + telling(edited)
    for one in runs:
        kept = {"1", "10", "100", str(len(one["actions"]))}
        one["qpos"] = {step: value for step, value in one["qpos"].items() if step in kept}
        one.pop("end", None)
    resets = [
        {key: value for key, value in reset.items() if key not in FOLLOWING}
        for reset in recorded["resets"]
    ]
    rest = {key: value for key, value in recorded.items() if key not in ("model", "pictures")}
    return rest | {"resets": resets, "runs": runs}


def telling(edited: list[dict]) -> list[dict]:
    """Two of the edited scenes: those whose verdicts change most from step to step."""

    def changes(one):
        verdicts = one["verdicts"]
        return sum(a != b for a, b in zip(verdicts, verdicts[1:], strict=False))

    return sorted(edited, key=changes, reverse=True)[:2]
