"""Writes a trained model as the files that the node loads.

    python export.py MODEL.pt FOLDER

`picture.onnx`: `image` uint8 512 x 512 x 3 -> `vectors` float 48 x 256 x 256 of length 1, `offsets`
float 4 x 128 x 128 (rows and columns to the middle of the thing, then of the part, in 256ths of the
picture). `phrase.onnx`: `features` int64 n x 88 -> `vectors` n x 48, `thresholds` n, `parts` n.
A pixel shows what a phrase names when the product of their vectors and the threshold is above 0.
`names.tsv`: what categories are called, each with those that it names and those that it may name.
"""

import argparse
from pathlib import Path

import text
import torch
import vocabulary
from model import ExportedPicture, Eyes

import onnx

SIDE = 512


def halve(file: Path):
    """Stores large weights as 16-bit floats, turned back when the model is loaded."""
    model = onnx.load(file)
    graph = model.graph
    casts = []
    for weight in graph.initializer:
        if weight.data_type != onnx.TensorProto.FLOAT or len(weight.dims) < 2:
            continue
        values = onnx.numpy_helper.to_array(weight)
        name = weight.name
        weight.CopyFrom(onnx.numpy_helper.from_array(values.astype("float16"), name + "_half"))
        casts.append(
            onnx.helper.make_node("Cast", [name + "_half"], [name], to=onnx.TensorProto.FLOAT)
        )
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    onnx.checker.check_model(model)
    onnx.save(model, file)


def names():
    """A phrase a line, with the categories that it names, and those that it may name."""
    phrases = {phrase.text: phrase for phrase in vocabulary.all_phrases()}
    for text_ in sorted(set(vocabulary.canonical().values())):
        phrase = phrases[text_]
        columns = [{kind.split("/")[0] for kind in kinds} for kinds in (phrase.yes, phrase.either)]
        yield "\t".join([text_, *(",".join(sorted(column)) for column in columns)])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    saved = torch.load(arguments.model, map_location="cpu")
    eyes = Eyes(len(vocabulary.KINDS), saved["width"])
    eyes.load_state_dict(saved["eyes"])
    eyes.eval()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    picture, phrase = arguments.folder / "picture.onnx", arguments.folder / "phrase.onnx"
    torch.onnx.export(
        ExportedPicture(eyes.picture).eval(),
        (torch.zeros(SIDE, SIDE, 3, dtype=torch.uint8),),
        picture,
        input_names=["image"],
        output_names=["vectors", "offsets"],
        opset_version=17,
        dynamo=False,
    )
    torch.onnx.export(
        eyes.phrase,
        (torch.ones(2, text.SLOTS, dtype=torch.int64),),
        phrase,
        input_names=["features"],
        output_names=["vectors", "thresholds", "parts"],
        opset_version=17,
        dynamic_axes={name: {0: "n"} for name in ["features", "vectors", "thresholds", "parts"]},
        dynamo=False,
    )
    (arguments.folder / "names.tsv").write_text("".join(f"{line}\n" for line in names()))
    for file in [picture, phrase]:
        halve(file)
        print(file, file.stat().st_size)


if __name__ == "__main__":
    main()
