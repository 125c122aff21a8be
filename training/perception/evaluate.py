"""How well a model's pixels fit each phrase, on held-out pictures; parts of fixtures too.

    python evaluate.py PICTURES MODEL.pt

Instances, places and times are judged by the program that answers in a run:
`cargo run --release -p perception --example accuracy`.
"""

import argparse
from pathlib import Path

import text
import torch
import vocabulary
from data import Pictures
from model import Eyes
from torch.nn import functional as F

# Fewer pixels are not judged.
LEAST = 30
# Pixels of a phrase that is not there, from which on it counts as seen.
ALARM = 6
PARTS = [
    *(f"{level} drawer of cabinet" for level in vocabulary.LEVELS),
    *(f"handle of {level} drawer" for level in vocabulary.LEVELS),
    *(f"{side} compartment of caddy" for side in vocabulary.SIDES),
    "top of cabinet",
    "stove knob",
    "stove burner",
    "microwave door",
    "microwave handle",
    "top of microwave",
    "inside of microwave",
    "top of shelf",
    "upper level of shelf",
    "lower level of shelf",
    "gripper",
    "robot",
    "table",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pictures", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--most", type=int, help="pictures to judge at least, then stop")
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    pictures = Pictures(arguments.pictures, device, arguments.most)
    saved = torch.load(arguments.model, map_location=device)
    eyes = Eyes(len(vocabulary.KINDS), saved["width"]).to(device)
    eyes.load_state_dict(saved["eyes"])
    eyes.eval()

    known = {phrase.text: phrase for phrase in vocabulary.all_phrases()}
    asked = [known[name] for name in [*sorted(set(vocabulary.canonical().values())), *PARTS]]
    answers = torch.zeros(len(asked), len(vocabulary.KINDS), device=device)
    for row, phrase in enumerate(asked):
        answers[row, [vocabulary.INDEX[kind] for kind in phrase.either]] = vocabulary.EITHER
        answers[row, [vocabulary.INDEX[kind] for kind in phrase.yes]] = vocabulary.YES
    overlaps = {view: [[] for _ in asked] for view in ("scene", "wrist")}
    absent, alarms = [0] * len(asked), [0] * len(asked)
    with torch.no_grad():
        features = torch.tensor([text.features(phrase.text) for phrase in asked], device=device)
        vectors, thresholds, _ = eyes.phrase(features)
        for at in range(len(pictures)):
            picture = pictures.color[at : at + 1].permute(0, 3, 1, 2).float() / 255.0
            pixels = F.normalize(eyes.picture(picture)[0].float(), dim=1)[0].flatten(1)
            seen = vectors @ pixels + thresholds[:, None] > 0
            truth = answers[:, pictures.kinds[at].flatten().long()]
            yes, either = truth == vocabulary.YES, truth == vocabulary.EITHER
            seen = seen & ~either
            common, union = (seen & yes).sum(1).tolist(), (seen | yes).sum(1).tolist()
            there, may_be = yes.sum(1).tolist(), either.sum(1).tolist()
            view = "wrist" if "eye_in_hand" in pictures.cameras[at] else "scene"
            for row in range(len(asked)):
                if there[row] >= LEAST:
                    overlaps[view][row].append(common[row] / union[row])
                elif there[row] == 0 and may_be[row] == 0:
                    absent[row] += 1
                    alarms[row] += union[row] >= ALARM
    print(
        "| phrase | scene: n | overlap | over half % | wrist: n | overlap | over half % | false alarms % |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row, phrase in enumerate(asked):
        cells = []
        for view in ("scene", "wrist"):
            found = torch.tensor(overlaps[view][row])
            some = len(found) > 0
            cells.append(
                f"{len(found)} | "
                + (
                    f"{found.median():.2f} | {100 * (found > 0.5).float().mean():.1f}"
                    if some
                    else "|"
                )
            )
        print(
            f"| {phrase.text} | {' | '.join(cells)} | {100 * alarms[row] / max(absent[row], 1):.1f} |"
        )
    total = [overlap for view in overlaps.values() for row in view for overlap in row]
    print(
        f"all: over half {100 * sum(x > 0.5 for x in total) / max(len(total), 1):.2f} % of {len(total)}, "
        f"false alarms {100 * sum(alarms) / max(sum(absent), 1):.2f} % of {sum(absent)}"
    )


if __name__ == "__main__":
    main()
