"""The net as an ONNX graph: int8[N, 26] boards in, float32[N, K] outcome chances out.

The encoding lives in the graph: cells index rows of the folded table, which are summed. Every
tail runs on every row and the position's phase picks one, so that the graph has no branches.
"""

import json
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from nardy.net.features import CELLS, CODES, COUNTS, PAIR_ROWS, pair_uppers
from nardy.net.net import Net

OPSET = 17
IR_VERSION = 9


class _Graph:
    """Nodes and constants, each named as it is added."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: Any, kind: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, kind), name))
        return name

    def node(self, operation: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        name = name or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, list(inputs), [name], **attributes))
        return name


def onnx_bytes(net: Net, meta: dict[str, Any]) -> bytes:
    """The serialised model, with `meta` in its metadata under "nardy"."""
    graph = _Graph()
    hidden = _first_layer(graph, net)
    logits = [_tail(graph, hidden, tail) for tail in net.tails]
    last = logits[0]
    if len(logits) == 2:
        last = graph.node("Where", _is_race(graph, net.blocking), logits[1], logits[0])
    graph.node("Softmax", last, axis=-1, name="outcomes")
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "nardy",
            [helper.make_tensor_value_info("boards", TensorProto.INT8, ["N", 26])],
            [
                helper.make_tensor_value_info(
                    "outcomes", TensorProto.FLOAT, ["N", len(net.variant.outcomes)]
                )
            ],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="nardy",
    )
    helper.set_model_props(model, {"nardy": json.dumps(meta)})
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _first_layer(graph: _Graph, net: Net) -> str:
    cells = graph.node("Cast", "boards", to=TensorProto.INT64)
    zero = graph.constant(0, np.int64)
    checkers = graph.constant([[net.variant.checkers]], np.int64)
    axis = graph.constant([1], np.int64)
    own = graph.node("ReduceSum", graph.node("Max", cells, zero), axis)
    opponent = graph.node("ReduceSum", graph.node("Min", cells, zero), axis)
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


def _pairs(graph: _Graph, net: Net) -> str:
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


def _tail(graph: _Graph, hidden: str, layers: Any) -> str:
    x = hidden
    for number, (weight, bias) in enumerate(layers):
        product = graph.node("MatMul", x, graph.constant(weight, np.float32))
        x = graph.node("Add", product, graph.constant(bias, np.float32))
        if number + 1 < len(layers):
            x = graph.node("Relu", x)
    return x


def _is_race(graph: _Graph, blocking: bool) -> str:
    """bool[N, 1]: the mover's rearmost cell lies below the opponent's, or where no one is hit
    they are on either side of the middle (features.phases_of)."""
    cells = graph.node("Cast", "boards", to=TensorProto.INT64)
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
