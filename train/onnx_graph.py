"""The net as an ONNX graph: int8[N, 26] boards in, float32[N, K] outcome chances out.

With a cube head also float32[N, C] contexts in (nardy.play.cube_head.CONTEXT) and float32[N]
cubeful values out.

The encoding lives in the graph: cells index rows of the folded table, which are summed. Every
tail runs on every row and the position's phase picks one, so that the graph has no branches.
"""

import json
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from nardy.net.features import CELLS, CODES, COUNTS, PAIR_ROWS, pair_uppers
from nardy.net.net import Net
from nardy.play.cube_head import CONTEXT, CubeHead
from train.onnx_cube import cubeful
from train.onnx_nodes import Graph

OPSET = 17
IR_VERSION = 9


def onnx_bytes(net: Net, meta: dict[str, Any], head: CubeHead | None = None) -> bytes:
    """The serialised model, with `meta` in its metadata under "nardy"; head: its learned cube."""
    graph = Graph()
    hidden = _first_layer(graph, net)
    logits = [_tail(graph, hidden, tail) for tail in net.tails]
    last = logits[0]
    if len(logits) == 2:
        last = graph.node("Where", _is_race(graph, net.blocking), logits[1], logits[0])
    graph.node("Softmax", last, axis=-1, name="outcomes")
    inputs = [helper.make_tensor_value_info("boards", TensorProto.INT8, ["N", 26])]
    outputs = [
        helper.make_tensor_value_info(
            "outcomes", TensorProto.FLOAT, ["N", len(net.variant.outcomes)]
        )
    ]
    if head is not None:
        cubeful(graph, head, hidden)
        contexts = helper.make_tensor_value_info("context", TensorProto.FLOAT, ["N", len(CONTEXT)])
        inputs.append(contexts)
        outputs.append(helper.make_tensor_value_info("cubeful", TensorProto.FLOAT, ["N"]))
    model = helper.make_model(
        helper.make_graph(graph.nodes, "nardy", inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="nardy",
    )
    helper.set_model_props(model, {"nardy": json.dumps(meta)})
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _first_layer(graph: Graph, net: Net) -> str:
    cells = graph.node("Cast", "boards", to=TensorProto.INT64)
    zero = graph.constant(0, np.int64)
    checkers = graph.constant([[net.variant.checkers]], np.int64)
    axis = graph.constant([1], np.int64)
    standing = _checkers(graph, net.blocking)
    own = graph.node("ReduceSum", graph.node("Max", standing, zero), axis)
    opponent = graph.node("ReduceSum", graph.node("Min", standing, zero), axis)
    own_off = graph.node("Sub", checkers, own)
    opponent_off = graph.node("Add", checkers, opponent)
    counts = graph.node("Concat", cells, own_off, opponent_off, axis=1)
    first_rows = graph.constant(np.arange(CELLS) * COUNTS + 15, np.int64)
    index = graph.node("Add", counts, first_rows)
    table = graph.constant(net.table.reshape(CELLS * COUNTS, -1), np.float32)
    rows = graph.node("Gather", table, index, axis=0)
    total = graph.node("ReduceSum", rows, axis, keepdims=0)
    total = graph.node("Add", total, graph.constant(net.bias, np.float32))
    if net.pairs.shape[1]:
        total = graph.node("Add", total, _pairs(graph, net))
    return graph.node("Relu", total)


def _checkers(graph: Graph, blocking: bool) -> str:
    """int64[N, 26]: the cells where checkers stand; those that say who began are none (D13)."""
    cells = graph.node("Cast", "boards", to=TensorProto.INT64)
    if not blocking:
        return cells
    points = np.ones((1, 26), np.int64)
    points[0, [0, 25]] = 0
    return graph.node("Mul", cells, graph.constant(points, np.int64))


def _pairs(graph: Graph, net: Net) -> str:
    """float32[N, H]: what pairs of cells add to the first layer (features.pair_index)."""
    cells = graph.node("Cast", "boards", to=TensorProto.INT64)
    zero, one = graph.constant(0, np.int64), graph.constant(1, np.int64)
    theirs = graph.node("Cast", graph.node("Less", cells, zero), to=TensorProto.INT64)
    point = graph.node("Greater", graph.node("Abs", cells), one)
    point = graph.node("Cast", point, to=TensorProto.INT64)
    codes = graph.node("Add", graph.node("Add", theirs, theirs), point)
    empty = graph.node("Equal", cells, zero)
    uppers = pair_uppers(net.variant.family)
    pairs = np.flatnonzero(uppers >= 0)  # by lower cell and distance
    lower = graph.constant(pairs // uppers.shape[1], np.int64)
    upper = graph.constant(uppers.ravel()[pairs], np.int64)
    first = graph.constant(pairs * CODES**2, np.int64)
    code = graph.node("Gather", codes, lower, axis=1)
    row = graph.node("Mul", code, graph.constant(CODES, np.int64))
    row = graph.node("Add", row, graph.node("Gather", codes, upper, axis=1))
    row = graph.node("Add", row, first)
    one_empty = graph.node(
        "Or",
        graph.node("Gather", empty, lower, axis=1),
        graph.node("Gather", empty, upper, axis=1),
    )
    row = graph.node("Where", one_empty, graph.constant(PAIR_ROWS, np.int64), row)
    units = net.pairs.shape[1]
    table = np.concatenate([net.pairs, np.zeros((1, units), np.float32)])
    rows = graph.node("Gather", graph.constant(table, np.float32), row, axis=0)
    total = graph.node("ReduceSum", rows, graph.constant([1], np.int64), keepdims=0)
    return graph.node("Pad", total, graph.constant([0, 0, 0, len(net.bias) - units], np.int64))


def _tail(graph: Graph, hidden: str, layers: Any) -> str:
    x = hidden
    for number, (weight, bias) in enumerate(layers):
        product = graph.node("MatMul", x, graph.constant(weight, np.float32))
        x = graph.node("Add", product, graph.constant(bias, np.float32))
        if number + 1 < len(layers):
            x = graph.node("Relu", x)
    return x


def _is_race(graph: Graph, blocking: bool) -> str:
    """bool[N, 1]: the mover's rearmost cell lies below the opponent's, or where no one is hit
    they are on either side of the middle (features.phases_of)."""
    cells = _checkers(graph, blocking)
    zero = graph.constant(0, np.int64)
    numbers = graph.constant(np.arange(26)[None], np.int64)
    own = graph.node("Greater", cells, zero)
    enemy = graph.node("Less", cells, zero)
    rearmost = graph.node("Where", own, numbers, graph.constant(-1, np.int64))
    foremost = graph.node("Where", enemy, numbers, graph.constant(26, np.int64))
    last = graph.node("ReduceMax", rearmost, axes=[1])
    first = graph.node("ReduceMin", foremost, axes=[1])
    if blocking:
        middle = graph.constant(12.5, np.float32)
        last, first = (graph.node("Cast", cell, to=TensorProto.FLOAT) for cell in (last, first))
        below, above = graph.node("Less", last, middle), graph.node("Less", middle, first)
        return graph.node("And", below, above)
    return graph.node("Less", last, first)
