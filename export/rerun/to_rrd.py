"""Turns the tables of `rua export --rerun` into a recording of the Rerun viewer.

to_rrd.py FOLDER OUT.rrd
"""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import rerun as rr
import rerun.blueprint as rrb

AXES = 0.05  # length of a frame's axes, metres


def main(folder, out):
    scene = json.loads((folder / "scene.json").read_text())
    name = f"{scene['run']}-{scene['episode']}"
    recording = rr.RecordingStream("ruaflow", recording_id=name)
    recording.save(out)
    recording.send_recording_name(f"{scene['suite']} {scene['task']}, seed {scene['seed']}")
    recording.log("world", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    work = log_steps(recording, folder, scene["joints"] or [])
    log_bodies(recording, folder)
    cameras = log_views(recording, folder)
    log_story(recording, folder, scene["instruction"])
    recording.send_blueprint(blueprint(cameras, work))
    recording.flush()


def rows(folder, name):
    """The rows of a table, with the recording's clocks set to each."""
    path = folder / f"{name}.arrows"
    if path.exists():
        with pa.ipc.open_stream(path) as reader:
            for batch in reader:
                yield from batch.to_pylist()


def at(recording, row):
    recording.set_time("time", duration=row["time_ns"] / 1e9)
    recording.set_time("control_step", sequence=row["control_step"])


def pose(position, quaternion):
    return rr.Transform3D(translation=position, quaternion=rr.Quaternion(xyzw=quaternion))


def log_steps(recording, folder, joints):
    """Returns the middle of where the arms went."""
    paths = {}
    for row in rows(folder, "steps"):
        at(recording, row)
        arm = row["arm"]
        recording.log(f"world/{arm}/eef", pose(row["eef_pos"], row["eef_quat"]), axes())
        path = paths.setdefault(arm, [])
        path.append(row["eef_pos"])
        strip = rr.LineStrips3D([path], colors=[255, 160, 0], radii=0.002)
        recording.log(f"world/{arm}/eef_path", strip)
        recording.log(f"gripper/{arm}", rr.Scalars(row["gripper_opening"]))
        for joint, angle in zip(joints, row.get("joint_pos") or [], strict=False):
            recording.log(f"joints/{arm}/{joint}", rr.Scalars(angle))
        recording.log("success", rr.Scalars(float(row["success"])))
    return np.mean([point for path in paths.values() for point in path], axis=0)


def axes():
    return rr.TransformAxes3D(AXES)


def log_bodies(recording, folder):
    named = set()
    for row in rows(folder, "bodies"):
        at(recording, row)
        entity = f"world/{row['path']}"
        if entity not in named:
            named.add(entity)
            recording.log(entity, axes(), static=True)
            if row["path"].startswith("objects/"):
                label = rr.Points3D([[0, 0, 0]], radii=0.005, labels=[Path(entity).name])
                recording.log(entity, label, static=True)
        recording.log(entity, pose(row["position"], row["quaternion"]))


def log_views(recording, folder):
    """Returns the cameras, each with whether it has depth."""
    cameras = {}
    for row in rows(folder, "views"):
        at(recording, row)
        camera, size = row["camera"], [row["width"], row["height"]]
        entity = f"world/cameras/{camera}"
        # A picture that was recorded as such has no geometry.
        if any(row["intrinsics"]):
            to_world = np.reshape(row["camera_to_world"], (4, 4))
            place = rr.Transform3D(translation=to_world[:3, 3], mat3x3=to_world[:3, :3])
            pinhole = rr.Pinhole(
                image_from_camera=np.reshape(row["intrinsics"], (3, 3)),
                resolution=size,
                camera_xyz=rr.ViewCoordinates.RDF,
                image_plane_distance=0.1,
            )
            recording.log(entity, place, pinhole)
        picture = rr.EncodedImage(contents=row["jpeg"], media_type="image/jpeg")
        recording.log(f"{entity}/color", picture)
        if row["depth_mm"]:
            depth = np.frombuffer(row["depth_mm"], "<u2").reshape(size[1], size[0])
            recording.log(f"{entity}/depth", rr.DepthImage(depth, meter=1000.0))
        cameras[camera] = cameras.get(camera, False) or bool(row["depth_mm"])
    return cameras


def log_story(recording, folder, instruction):
    recording.log("task", rr.TextDocument(instruction), static=True)
    for row in rows(folder, "log"):
        at(recording, row)
        level = rr.TextLogLevel.WARN if row["warns"] else rr.TextLogLevel.INFO
        if row["kind"] == "cell":
            code = f"```python\n{row['text']}\n```"
            recording.log("cell", rr.TextDocument(code, media_type=rr.MediaType.MARKDOWN))
        recording.log(f"log/{row['kind']}", rr.TextLog(row["text"], level=level))


def blueprint(cameras, work):
    pictures = []
    for camera, has_depth in cameras.items():
        entity = f"world/cameras/{camera}"
        pictures.append(rrb.Spatial2DView(origin=f"{entity}/color", name=camera))
        if has_depth:
            pictures.append(rrb.Spatial2DView(origin=f"{entity}/depth", name=f"{camera}, depth"))
    plots = rrb.Horizontal(
        rrb.TimeSeriesView(origin="gripper", name="gripper, metres"),
        rrb.TimeSeriesView(origin="joints", name="joints, radians"),
    )
    words = rrb.Vertical(
        rrb.TextDocumentView(origin="task", name="task"),
        rrb.TextDocumentView(origin="cell", name="cell"),
        rrb.TextLogView(origin="log", name="log"),
        row_shares=[1, 4, 4],
    )
    # From the side, a metre and a half away.
    eye = rrb.EyeControls3D(position=work + [0.9, -1.0, 0.7], look_target=work)
    scene = rrb.Spatial3DView(origin="world", name="scene", eye_controls=eye)
    columns = [rrb.Vertical(scene, plots, row_shares=[3, 1])]
    if pictures:
        columns.append(rrb.Grid(*pictures, grid_columns=2))
    return rrb.Blueprint(
        rrb.Horizontal(*columns, words),
        rrb.BlueprintPanel(state="collapsed"),
        rrb.SelectionPanel(state="collapsed"),
        rrb.TimePanel(state="collapsed"),
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
