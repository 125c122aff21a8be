"""Loads a dataset in the real LeRobot, compares it with the runs it was made from, and
trains a few steps on it: check.py DATASET RUA RUN..."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from lerobot.configs.types import FeatureType
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.act.modeling_act import ACTPolicy
from lerobot.policies.factory import make_pre_post_processors
from lerobot.utils.feature_utils import dataset_to_policy_features
from PIL import Image

TRAINING_STEPS = 3


def main(root, rua, runs):
    dataset = LeRobotDataset("ruaflow/check", root=root)
    ledger = json.loads((root / "meta/ruaflow.json").read_text())
    by_id = {json.loads((run / "result.json").read_text())["run"]: run for run in runs}
    at = 0
    for entry in ledger["episodes"]:
        run = by_id[entry["source"]["run"]]
        at += compare_rows(dataset, at, run, entry)
        compare_pictures(dataset, entry, rua, run)
    assert at == len(dataset) == dataset.meta.total_frames, (at, len(dataset))
    loss = train(root, dataset)
    print(
        f"{dataset.num_episodes} episodes, {at} rows as recorded; {TRAINING_STEPS} steps of ACT: loss {loss}"
    )


def topic(run, name):
    """The rows of a topic, compacted or not."""
    path = run / "episodes/000" / name
    if path.with_suffix(".parquet").exists():
        return pq.read_table(path.with_suffix(".parquet")).to_pylist()
    with pa.ipc.open_stream(path.with_suffix(".arrows")) as reader:
        return reader.read_all().to_pylist()


def compare_rows(dataset, at, run, entry):
    observations = sorted(topic(run, "observation"), key=lambda row: row["control_step"])
    actions = {row["id"]: row for row in topic(run, "action")}
    actions = [actions[row["action_id"]] for row in observations[1:]]
    card = json.loads((run / "episodes/000/card.json").read_text())
    stride = round(card["control_hz"] / dataset.fps)
    starts = range(0, len(actions), stride)
    assert entry["rows"] == len(starts)
    for row, start in enumerate(starts):
        item = dataset[at + row]
        window, arm = actions[start : start + stride], observations[start]["arms"][0]
        values = np.mean([action["values"] for action in window], axis=0)
        close(item["action"], [*values, window[-1]["gripper"]])
        rotation = axis_angle(np.array(arm["eef_quat"]))
        close(item["observation.state"], [*arm["eef_pos"], *rotation, *arm["gripper_qpos"]])
        close(item["observation.joint_pos"], arm["joint_pos"])
        close(item["timestamp"], row / dataset.fps)
        after = observations[min(start + stride, len(actions))]
        assert bool(item["next.success"]) == after["success"]
        assert bool(item["next.done"]) == (row + 1 == len(starts))
        assert item["task"] == card["instruction"], item["task"]
        assert (item["frame_index"], item["episode_index"]) == (row, entry["index"])
    return len(starts)


def close(found, expected):
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=0, atol=1e-5)


def axis_angle(quaternion):
    sine = np.sqrt(1 - quaternion[3] ** 2)
    return quaternion[:3] * 2 * np.arccos(quaternion[3]) / sine


def compare_pictures(dataset, entry, rua, run):
    """A video's frames are the pictures that are rendered of their control steps."""
    stride = round(20 / dataset.fps)
    for row, camera in ((0, "agentview"), (entry["rows"] - 1, "wrist")):
        item = dataset[entry["from"] + row]
        frame = item[f"observation.images.{camera}"].permute(1, 2, 0).numpy() * 255
        with tempfile.TemporaryDirectory() as folder:
            png = Path(folder) / "a.png"
            step, size = str(row * stride), str(frame.shape[0])
            words = [rua, "render", run, "--step", step, "--camera", camera]
            subprocess.run([*words, "--size", size, "-o", png], check=True, stdout=2)
            rendered = np.asarray(Image.open(png), dtype=float)
        off = np.abs(frame - rendered).mean()
        assert off < 4, f"{camera}, row {row}: {off:.1f} of 255 off"


def train(root, dataset):
    """A small ACT, from nothing, on the processor."""
    features = dataset_to_policy_features(dataset.meta.features)
    outputs = {key: it for key, it in features.items() if it.type is FeatureType.ACTION}
    inputs = {key: it for key, it in features.items() if key not in outputs}
    config = ACTConfig(
        input_features=inputs,
        output_features=outputs,
        chunk_size=8,
        n_action_steps=8,
        dim_model=32,
        n_heads=2,
        dim_feedforward=64,
        n_encoder_layers=1,
        n_vae_encoder_layers=1,
        pretrained_backbone_weights=None,
        device="cpu",
    )
    policy = ACTPolicy(config)
    preprocess, _ = make_pre_post_processors(config, dataset_stats=dataset.meta.stats)
    offsets = {"action": [step / dataset.fps for step in config.action_delta_indices]}
    chunks = LeRobotDataset("ruaflow/check", root=root, delta_timestamps=offsets)
    loader = torch.utils.data.DataLoader(chunks, batch_size=4, shuffle=True)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-4)
    losses = []
    for _, batch in zip(range(TRAINING_STEPS), loader, strict=False):
        loss, _ = policy.forward(preprocess(batch))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(round(loss.item(), 3))
    assert len(losses) == TRAINING_STEPS and np.isfinite(losses).all(), losses
    return losses


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], [Path(run) for run in sys.argv[3:]])
