"""Reads what the picture maker wrote (`nodes/libero/examples/perception_data`)."""

import json
from pathlib import Path

import numpy as np
import torch
import vocabulary


class Pictures:
    """All pictures of a folder, on one device.

    `color` n x side x side x 3; `kinds` and `things` n x side/2 x side/2; bytes all of them.
    """

    def __init__(self, folder: Path, device, most=None):
        names, total = [], 0
        for about in sorted(folder.glob("*.json")):
            facts = json.loads(about.read_text())
            names.append((about, facts))
            total += len(facts["pictures"])
            if most and total >= most:
                break
        side, label_side = names[0][1]["side"], names[0][1]["label_side"]
        self.cameras = []
        self.color = torch.empty((total, side, side, 3), dtype=torch.uint8, device=device)
        self.kinds = torch.empty((total, label_side, label_side), dtype=torch.uint8, device=device)
        self.things = torch.empty_like(self.kinds)
        at = 0
        for about, facts in names:
            count = len(facts["pictures"])
            color = np.fromfile(about.with_suffix(".rgb"), np.uint8)
            label = np.fromfile(about.with_suffix(".label"), np.uint8)
            kinds = [vocabulary.INDEX[vocabulary.kind_of(name)] for name in facts["names"]]
            table = np.zeros(256, np.uint8)
            table[: len(kinds)] = kinds
            label = label.reshape(count, label_side, label_side, 2)
            to = slice(at, at + count)
            self.color[to] = torch.from_numpy(color).view(count, side, side, 3).to(device)
            self.kinds[to] = torch.from_numpy(table[label[..., 0]]).to(device)
            self.things[to] = torch.from_numpy(np.ascontiguousarray(label[..., 1])).to(device)
            self.cameras += [picture["camera"] for picture in facts["pictures"]]
            at += count

    def __len__(self):
        return len(self.color)
