"""Writes small models with the signature of PyPI's `samexporter` 0.5 exports of SAM3.

They know red, green and blue, and one thing of each in either half of a picture:

    pip install onnx==1.23.2
    python generate.py

`export/` takes bytes without a batch axis and keeps its weights in a file beside the decoder, as
the exporter does; `older/` takes normalised floats with a batch axis, lacks what a simplified
decoder lacks, and answers with finished masks.
"""

from pathlib import Path

import onnx
from onnx import numpy_helper, parser

HERE = Path(__file__).parent
HEAD = '<ir_version: 8, opset_import: ["" : 18]>\n'
SIDE = 56
# CLIP's tokens of the three words.
WORDS = {"red": 736, "green": 1901, "blue": 1746}

LANGUAGE = """
language (int64[1,32] tokens)
    => (bool[1,32] text_attention_mask, float[32,1,256] text_memory, float[32,1,1024] text_embeds)
<int64[1] zero = {0}, int64[3] column = {32, 1, 1},
 int64[3] wide = {32, 1, 256}, int64[3] wider = {32, 1, 1024}>
{
    text_attention_mask = Equal(tokens, zero)
    numbers = Cast<to = 1>(tokens)
    rows = Reshape(numbers, column)
    text_memory = Expand(rows, wide)
    text_embeds = Expand(rows, wider)
}
"""


def image_encoder(batched: bool, of_bytes: bool) -> str:
    shape = f"{'1,' if batched else ''}3,{SIDE},{SIDE}"
    # Both end as values from 0 to 1.
    scale = "x = Div(raw, full)" if of_bytes else "y = Add(raw, one)\n    x = Div(y, two)"
    batch = "picture = Identity(x)" if batched else "picture = Unsqueeze(x, first)"
    levels = range(3)
    sides = [SIDE // 2, SIDE // 4, SIDE // 8]
    kinds = [f"float[1,3,{side},{side}]" for side in sides]
    outputs = [f"{kinds[level]} vision_pos_enc_{level}" for level in levels]
    outputs += [f"{kinds[level]} backbone_fpn_{level}" for level in levels]
    pooled = "\n    ".join(
        f"backbone_fpn_{level} = AveragePool<kernel_shape = [{2 << level}, {2 << level}], "
        f"strides = [{2 << level}, {2 << level}]>(picture)\n"
        f"    vision_pos_enc_{level} = Mul(backbone_fpn_{level}, zero)"
        for level in levels
    )
    return f"""
image ({"uint8" if of_bytes else "float"}[{shape}] image) => ({", ".join(outputs)})
<float[1] full = {{255.0}}, float[1] zero = {{0.0}}, float[1] one = {{1.0}}, float[1] two = {{2.0}},
 int64[1] first = {{0}}>
{{
    raw = Cast<to = 1>(image)
    {scale}
    {batch}
    {pooled}
}}
"""


# A mask for each half and one that repeats the left half's with less certainty.
HEADS = """
    first_row = Slice(language_features, one_i, two_i, zero_i)
    word = Slice(first_row, zero_i, one_i, two_i)
    is_word = Equal(word, words)
    chosen = Cast<to = 1>(is_word)
    used = Not(box_masks)
    used_number = Cast<to = 1>(used)
    pointed = ReduceMax<keepdims = 0>(used_number)
    coords = Slice(box_coords, zero_i, one_i, zero_i)
    cx = Slice(coords, zero_i, one_i, two_i)
    wide = Slice(coords, two_i, three_i, two_i)
    off = Sub(wide, hundredth)
    wrong = Abs(off)
    sum = ReduceSum(backbone_fpn_0, one_i)
    doubled = Mul(backbone_fpn_0, two)
    pure = Sub(doubled, sum)
    weights = Reshape(chosen, as_channels)
    weighted = Mul(pure, weights)
    by_word = ReduceSum(weighted, one_i)
    bright = ReduceMax(backbone_fpn_0, one_i)
    by_point = Mul(bright, pointed)
    both = Add(by_word, by_point)
    off_half = Sub(both, half)
    steep = Mul(off_half, eight)
    from_left = Mul(right_cols, cut)
    from_right = Mul(left_cols, cut)
    left = Sub(steep, from_left)
    right = Sub(steep, from_right)
    logits = Concat<axis = 1>(left, right, left)
    best = ReduceMax(logits, last_axes)
    flat = Reshape(best, as_queries)
    certain = Sub(flat, doubt)
    to_left = Sub(half, cx)
    near = Mul(to_left, pointed)
    nearer = Mul(near, by_query)
    scored = Add(certain, nearer)
    known = ReduceMax<keepdims = 0>(chosen)
    asked = Max(known, pointed)
    shifted = Sub(asked, half)
    present = Mul(shifted, eight)
    misplaced = Mul(wrong, pointed)
    penalty = Mul(misplaced, thousand)
    presence = Sub(present, penalty)
"""


def constants() -> str:
    grid = SIDE // 2
    left = ["1.0"] * (grid // 2) + ["0.0"] * (grid - grid // 2)
    words = ", ".join(f"{token}.0" for token in WORDS.values())
    return f"""
<int64[1] zero_i = {{0}}, int64[1] one_i = {{1}}, int64[1] two_i = {{2}}, int64[1] three_i = {{3}},
 float[3] words = {{{words}}}, int64[4] as_channels = {{1, 3, 1, 1}}, float[1] two = {{2.0}},
 float[1] half = {{0.5}}, float[1] eight = {{8.0}}, float[1] cut = {{40.0}},
 float[1] hundredth = {{0.01}}, float[1] thousand = {{1000.0}}, int64[2] last_axes = {{2, 3}},
 int64[3] as_queries = {{1, 3, 1}}, float[1,3,1] doubt = {{0.0, 0.5, 1.0}},
 float[1,3,1] by_query = {{8.0, -8.0, 8.0}}, int64[2] as_presence = {{1, 1}},
 float[1,1,1,{grid}] left_cols = {{{", ".join(left)}}},
 float[1,1,1,{grid}] right_cols = {{{", ".join(reversed(left))}}},
 float[1,3,4] boxes = {{{", ".join(["0.25", "0.5", "0.5", "1.0"] * 3)}}},
 int64[1] single = {{1}}, int64[1] count = {{3}}, float[1] none = {{0.0}}, int64[1] minus = {{-1}}>
"""


def decoder(older: bool) -> str:
    grids = [SIDE // 2, SIDE // 4, SIDE // 8]
    inputs = ["int64 original_height", "int64 original_width"]
    for name in ["vision_pos_enc"] * (not older) + ["backbone_fpn"]:
        inputs += [f"float[1,3,{grid},{grid}] {name}_{level}" for level, grid in enumerate(grids)]
    inputs += ["bool[1,32] language_mask", "float[32,1,256] language_features"]
    inputs += [] if older else ["float[32,1,1024] language_embeds"]
    inputs += ["float[8,1,4] box_coords", "int64[8,1] box_labels", "bool[1,8] box_masks"]
    if older:
        outputs = "float[3,4] boxes_out, float[3] scores, bool[3,1,H,W] masks"
        tail = """
    height = Reshape(original_height, single)
    width = Reshape(original_width, single)
    size = Concat<axis = 0>(single, count, height, width)
    large = Resize<mode = "linear">(logits, , , size)
    inside = Greater(large, none)
    masks = Transpose<perm = [1, 0, 2, 3]>(inside)
    sure = Sigmoid(scored)
    there = Sigmoid(presence)
    product = Mul(sure, there)
    scores = Reshape(product, minus)
    boxes_out = Squeeze(boxes, zero_i)
"""
    else:
        grid = grids[0]
        outputs = (
            f"float[1,3,4] pred_boxes, float[1,3,1] pred_logits, float[1,3,{grid},{grid}] "
            "pred_masks, float[1,1] presence_logit_dec"
        )
        tail = """
    pred_boxes = Identity(boxes)
    pred_logits = Identity(scored)
    pred_masks = Identity(logits)
    presence_logit_dec = Reshape(presence, as_presence)
"""
    head = f"decoder ({', '.join(inputs)}) => ({outputs})"
    return f"{head}{constants()}{{{HEADS}{tail}}}"


def write(folder: str, name: str, text: str, beside: bool = False):
    model = parser.parse_model(HEAD + text)
    used = {name for node in model.graph.node for name in node.input}
    for tensor in [tensor for tensor in model.graph.initializer if tensor.name not in used]:
        model.graph.initializer.remove(tensor)
    onnx.checker.check_model(model, full_check=True)
    path = HERE / folder / name
    path.parent.mkdir(exist_ok=True)
    if beside:
        data = f"{name}.data"
        path.with_name(data).unlink(missing_ok=True)
        # Only raw bytes can lie elsewhere, and no shape may.
        for tensor in model.graph.initializer:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor), tensor.name))
        onnx.save_model(model, path, save_as_external_data=True, location=data, size_threshold=140)
    else:
        onnx.save_model(model, path)


if __name__ == "__main__":
    for folder, older in [("export", False), ("older", True)]:
        encoder = image_encoder(batched=older, of_bytes=not older)
        write(folder, "sam3_image_encoder.onnx", encoder)
        write(folder, "sam3_language_encoder.onnx", LANGUAGE)
        write(folder, "sam3_decoder.onnx", decoder(older), beside=not older)
