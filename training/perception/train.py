"""Trains the builtin segmenter.

    python train.py PICTURES MODEL.pt [--minutes M] [--batch B] [--width W] [--resume OLD.pt]

Runs on the GPU if there is one. The learning rate falls to nothing by the end of the time.
"""

import argparse
import copy
import random
import time
from pathlib import Path

import text
import torch
import vocabulary
from data import Pictures
from model import OFFSET_UNIT, Eyes
from torch.nn import functional as F

OUTSIDE = 255
PIXELS = 3072
# Phrases a step is asked, besides every kind's.
ASKED = 160
GROUPS = 8


class Questions:
    """Phrases with the answers for every kind."""

    def __init__(self, device):
        self.phrases = vocabulary.all_phrases()
        self.known = {phrase.text for phrase in self.phrases}
        self.strangers = vocabulary.strangers(self.phrases)
        answers = torch.zeros(len(self.phrases), len(vocabulary.KINDS))
        for row, phrase in enumerate(self.phrases):
            for kind in phrase.either:
                answers[row, vocabulary.INDEX[kind]] = vocabulary.EITHER
            for kind in phrase.yes:
                answers[row, vocabulary.INDEX[kind]] = vocabulary.YES
        self.answers = answers.to(device)
        self.parts = torch.tensor([float(phrase.part) for phrase in self.phrases], device=device)
        self.device = device

    def draw(self):
        """Features, answers per kind, and whether each names a part."""
        strange = ASKED // 5
        rows = random.sample(range(len(self.phrases)), ASKED - strange)
        texts = [vary(self.phrases[row].text) for row in rows]
        answers = torch.cat(
            [self.answers[rows], self.answers.new_zeros(strange, len(vocabulary.KINDS))]
        )
        parts = torch.cat([self.parts[rows], self.parts.new_zeros(strange)])
        texts += [self.stranger() for _ in range(strange)]
        features = torch.tensor([text.features(phrase) for phrase in texts], device=self.device)
        return features, answers, parts

    def stranger(self):
        noun = random.choice(self.strangers)
        chance = random.random()
        if chance < 0.25:
            colours = vocabulary.STRANGE_COLOURS
            return f"{random.choice(colours)} {random.choice(vocabulary.COLOURED_NOUNS)}"
        if chance < 0.5:
            colours = [
                "red",
                "black",
                "white",
                "yellow",
                "small",
                "wooden",
                *vocabulary.STRANGE_COLOURS,
            ]
            return f"{random.choice(colours)} {noun}"
        if chance < 0.6:
            return "".join(random.choices("abcdefghijklmnopqrstuvwxyz ", k=random.randint(3, 14)))
        return noun


def vary(phrase):
    """Now and then a plural or a slip of the pen."""
    chance = random.random()
    if chance < 0.06:
        return phrase + "s"
    if chance < 0.12 and len(phrase) > 5:
        at = random.randrange(len(phrase))
        return phrase[:at] + phrase[at + 1 :]
    return phrase


def augmented(color, kinds, things):
    """Turned, moved, scaled and recoloured; what comes from outside is marked so."""
    n, device = len(color), color.device
    picture = color.permute(0, 3, 1, 2).float() / 255.0
    still = torch.rand(n, device=device) < 0.4
    scale = torch.exp(0.22 * torch.randn(n, device=device)).clamp(0.7, 1.5)
    turn = 0.06 * torch.randn(n, device=device)
    shift = 0.12 * torch.randn(n, 2, device=device)
    scale, turn = torch.where(still, 1.0, scale), torch.where(still, 0.0, turn)
    shift = torch.where(still[:, None], 0.0, shift)
    cos, sin = torch.cos(turn) * scale, torch.sin(turn) * scale
    affine = torch.stack(
        [torch.stack([cos, -sin, shift[:, 0]], 1), torch.stack([sin, cos, shift[:, 1]], 1)], 1
    )
    grid = F.affine_grid(affine, picture.shape, align_corners=False)
    picture = F.grid_sample(picture, grid, padding_mode="zeros", align_corners=False)
    grid = F.affine_grid(affine, (n, 1, *kinds.shape[1:]), align_corners=False)
    # One more than the label, so that 0 is what lies outside.
    labels = torch.stack([kinds, things], 1).float() + 1.0
    labels = F.grid_sample(labels, grid, mode="nearest", padding_mode="zeros", align_corners=False)
    labels = labels.round().long() - 1
    kinds, things = labels[:, 0], labels[:, 1].clamp(min=0)
    kinds = torch.where(kinds < 0, OUTSIDE, kinds)

    def each(spread):
        return 1.0 + spread * torch.randn(n, 1, 1, 1, device=device)

    grey = picture.mean(1, keepdim=True)
    picture = grey + (picture - grey) * each(0.15)
    gains = 1.0 + 0.05 * torch.randn(n, 3, 1, 1, device=device)
    picture = (picture - 0.5) * each(0.12) + 0.5 + 0.06 * torch.randn(n, 1, 1, 1, device=device)
    picture = picture * gains + 0.015 * torch.rand(n, 1, 1, 1, device=device) * torch.randn_like(
        picture
    )
    return picture.clamp(0, 1), kinds, things


def centres(ids, count):
    """Mean row and column of each id, n x 2 x count."""
    n, height, width = ids.shape
    flat = ids.reshape(n, -1)
    rows = torch.arange(height, device=ids.device).float().repeat_interleave(width).expand(n, -1)
    columns = torch.arange(width, device=ids.device).float().repeat(height).expand(n, -1)
    zeros = torch.zeros(n, count, device=ids.device)
    number = zeros.scatter_add(1, flat, torch.ones_like(rows)).clamp(min=1.0)
    return torch.stack([zeros.scatter_add(1, flat, where) / number for where in (rows, columns)], 1)


class Losses:
    def __init__(self, device):
        groups, numbers = {}, []
        for kind in vocabulary.KINDS:
            category = kind.split("/")[0]
            known = groups.setdefault(category, [])
            group = vocabulary.part_group(kind)
            if group not in known:
                known.append(group)
            numbers.append(known.index(group))
        assert max(numbers) < GROUPS
        self.group = torch.tensor([*numbers, *[0] * (256 - len(numbers))], device=device)
        self.questions = Questions(device)

    def __call__(self, eyes, color, kinds, things):
        picture, kinds, things = augmented(color, kinds, things)
        vectors, offsets = eyes.picture(picture.contiguous(memory_format=torch.channels_last))
        n = len(kinds)
        flat = kinds.reshape(n, -1)
        counts = torch.zeros(n, 256, device=kinds.device).scatter_add(
            1, flat, torch.ones_like(flat, dtype=torch.float)
        )
        weight = counts.clamp(min=1.0).pow(-0.6).gather(1, flat)
        weight = torch.where(flat == OUTSIDE, 0.0, weight)
        # The largest of weighted random keys: a draw without replacement.
        keys = torch.rand_like(weight).clamp(min=1e-9).log() / weight.clamp(min=1e-12)
        chosen = keys.topk(PIXELS, 1).indices
        vectors = vectors.float().reshape(n, vectors.shape[1], -1)
        vectors = vectors.gather(2, chosen.unsqueeze(1).expand(-1, vectors.shape[1], -1))
        vectors = F.normalize(vectors, dim=1).transpose(1, 2).reshape(n * PIXELS, -1)
        shown = flat.gather(1, chosen).reshape(-1)
        inside = shown != OUTSIDE
        vectors, shown = vectors[inside], shown[inside]

        features, answers, parts = self.questions.draw()
        asked, threshold, part = eyes.phrase(features)
        logits = vectors @ asked.T + threshold
        wanted = answers.T[shown]
        counted = (wanted >= 0).float()
        asking = F.binary_cross_entropy_with_logits(logits, wanted.clamp(min=0), reduction="none")
        asking = (asking * counted).sum(1).mean()
        naming = F.cross_entropy(eyes.kinds(vectors * 8.0), shown)
        parting = F.binary_cross_entropy_with_logits(part, parts)
        moving = self.offsets(offsets.float(), kinds, things, counts)
        return asking + naming + 0.5 * parting + 2.0 * moving, {
            "asking": asking,
            "naming": naming,
            "moving": moving,
            "right": (eyes.kinds(vectors * 8.0).argmax(1) == shown).float().mean(),
        }

    def offsets(self, offsets, kinds, things, counts):
        parts = things * GROUPS + self.group[kinds]
        wanted = []
        height, width = offsets.shape[2:]
        rows = torch.arange(height, device=kinds.device).float().view(1, -1, 1) * 2 + 1
        columns = torch.arange(width, device=kinds.device).float().view(1, 1, -1) * 2 + 1
        n = len(kinds)
        for ids, count in [(things, 256), (parts, 256 * GROUPS)]:
            middle = centres(ids, count)
            small = ids[:, 1::2, 1::2].reshape(n, -1)
            at = middle.gather(2, small.unsqueeze(1).expand(-1, 2, -1)).view(n, 2, height, width)
            wanted += [at[:, 0] - rows, at[:, 1] - columns]
        wanted = torch.stack(wanted, 1) / OFFSET_UNIT
        small = kinds[:, 1::2, 1::2]
        weight = counts.clamp(min=1.0).pow(-0.6).gather(1, small.reshape(n, -1)).view(small.shape)
        weight = weight * ((things[:, 1::2, 1::2] >= 2) & (small != OUTSIDE))
        error = F.smooth_l1_loss(offsets, wanted, reduction="none", beta=0.05).sum(1)
        return (error * weight).sum() / weight.sum().clamp(min=1e-6)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pictures", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--width", type=float, default=1.0)
    parser.add_argument("--resume", type=Path)
    parser.add_argument(
        "--compile", action="store_true", help="a minute of waiting for faster steps"
    )
    arguments = parser.parse_args()
    start = time.monotonic()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    random.seed(0)
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = True

    pictures = Pictures(arguments.pictures, device)
    eyes = Eyes(len(vocabulary.KINDS), arguments.width).to(
        device, memory_format=torch.channels_last
    )
    if arguments.resume:
        eyes.load_state_dict(torch.load(arguments.resume, map_location=device)["eyes"])
    print(
        f"{len(pictures)} pictures, {sum(p.numel() for p in eyes.parameters()):,} weights, "
        f"ready after {time.monotonic() - start:.0f} s",
        flush=True,
    )
    average = copy.deepcopy(eyes)
    if arguments.compile:
        eyes.picture.compile()
    slow, fast = (
        [x for x in net.state_dict().values() if x.is_floating_point()] for net in (average, eyes)
    )
    optimizer = torch.optim.AdamW(
        eyes.parameters(), lr=arguments.rate, weight_decay=0.02, fused=device.type == "cuda"
    )
    losses = Losses(device)
    start, seconds, step = time.monotonic(), 60 * arguments.minutes, 0
    while (spent := (time.monotonic() - start) / seconds) < 1.0:
        rate = (
            arguments.rate
            * min(1.0, (step + 1) / 200)
            * (0.5 * (1 + torch.cos(torch.tensor(spent * torch.pi)))).item()
        )
        for group in optimizer.param_groups:
            group["lr"] = rate
        some = torch.randint(len(pictures), (arguments.batch,), device=device)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            loss, terms = losses(
                eyes, pictures.color[some], pictures.kinds[some], pictures.things[some]
            )
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(eyes.parameters(), 5.0)
        optimizer.step()
        step += 1
        keep = min(0.998, step / (step + 20))
        torch._foreach_lerp_(slow, fast, 1 - keep)
        if step % 100 == 1:
            said = ", ".join(f"{name} {value.item():.3f}" for name, value in terms.items())
            print(f"{spent:4.0%} step {step}: {said}", flush=True)
    arguments.model.parent.mkdir(parents=True, exist_ok=True)
    weights = {
        name: x.half() if x.is_floating_point() else x for name, x in average.state_dict().items()
    }
    torch.save({"eyes": weights, "width": arguments.width, "steps": step}, arguments.model)
    print(f"{step} steps, {step * arguments.batch} pictures seen")


if __name__ == "__main__":
    main()
