"""Nodes and constants of an ONNX graph while it is built, and arithmetic that reads as such.

graph = Graph()
a, b = Number(graph, "a"), Number(graph, "b")
((1 - a) * b).name        # the node that gives it
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Nodes and constants, each named as it is added."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: Any, kind: Any) -> str:
        """The name of a new constant of a numpy type."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, kind), name))
        return name

    def node(self, operation: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """The name of what a new node gives."""
        name = name or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, list(inputs), [name], **attributes))
        return name

    def split(self, name: str, count: int) -> list[str]:
        """The names of the `count` equal parts along axis 1 of what has a name."""
        parts = [f"n{len(self.nodes)}_{part}" for part in range(count)]
        sizes = self.constant([1] * count, np.int64)
        self.nodes.append(helper.make_node("Split", [name, sizes], parts, axis=1))
        return parts


class Number:
    """A float64 array of a graph, or a bool one where it comes from a comparison."""

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name = graph, name

    @staticmethod
    def of(graph: Graph, name: str) -> "Number":
        """What has a name in the graph, as float64."""
        return Number(graph, graph.node("Cast", name, to=TensorProto.DOUBLE))

    def __add__(self, other: "Number | float") -> "Number":
        return self._by("Add", other)

    def __sub__(self, other: "Number | float") -> "Number":
        return self._by("Sub", other)

    def __rsub__(self, other: float) -> "Number":
        return self.constant(other) - self

    def __mul__(self, other: "Number | float") -> "Number":
        return self._by("Mul", other)

    def __truediv__(self, other: "Number | float") -> "Number":
        return self._by("Div", other)

    def __lt__(self, other: "Number | float") -> "Number":
        return self._by("Less", other)

    def __gt__(self, other: "Number | float") -> "Number":
        return self._by("Greater", other)

    def __and__(self, other: "Number") -> "Number":
        return self._by("And", other)

    def __or__(self, other: "Number") -> "Number":
        return self._by("Or", other)

    def __invert__(self) -> "Number":
        return self._node("Not")

    def equals(self, other: "Number | float") -> "Number":
        """bool: where they are equal."""
        return self._by("Equal", other)

    def min(self, other: "Number | float") -> "Number":
        """The lesser of both."""
        return self._by("Min", other)

    def max(self, other: "Number | float") -> "Number":
        """The greater of both."""
        return self._by("Max", other)

    def clip(self, low: float, high: float) -> "Number":
        """As numpy.clip."""
        return self.max(low).min(high)

    def abs(self) -> "Number":
        """Without its sign."""
        return self._node("Abs")

    def where(self, yes: "Number | float", no: "Number | float") -> "Number":
        """Of a bool: `yes` where it is true, else `no`."""
        return self._node("Where", self._name(yes), self._name(no))

    def sum(self, axis: int, keep: bool = False) -> "Number":
        """The sum along an axis."""
        axes = self.graph.constant([axis], np.int64)
        return self._node("ReduceSum", axes, keepdims=int(keep))

    def least(self, axis: int) -> "Number":
        """The least along an axis, which is kept with length 1."""
        return self._node("ReduceMin", axes=[axis])

    def greatest(self, axis: int) -> "Number":
        """The greatest along an axis, which is kept with length 1."""
        return self._node("ReduceMax", axes=[axis])

    def columns(self, *numbers: int) -> "Number":
        """Some places along axis 1."""
        return self._node("Gather", self.graph.constant(numbers, np.int64), axis=1)

    def shaped(self, *shape: int) -> "Number":
        """In another shape; 0 keeps a length."""
        return self._node("Reshape", self.graph.constant(shape, np.int64))

    def split(self, count: int) -> "list[Number]":
        """Its columns, [N, 1] each."""
        return [Number(self.graph, name) for name in self.graph.split(self.name, count)]

    def cast(self, kind: int) -> str:
        """The name of it in one of TensorProto's types."""
        return self.graph.node("Cast", self.name, to=kind)

    def constant(self, value: Any) -> "Number":
        """A float64 constant of its graph."""
        return Number(self.graph, self.graph.constant(value, np.float64))

    def _by(self, operation: str, other: "Number | float") -> "Number":
        return self._node(operation, self._name(other))

    def _name(self, other: "Number | float") -> str:
        return other.name if isinstance(other, Number) else self.constant(other).name

    def _node(self, operation: str, *others: str, **attributes: Any) -> "Number":
        return Number(self.graph, self.graph.node(operation, self.name, *others, **attributes))


def joined(parts: Sequence[Number]) -> Number:
    """Arrays side by side, along axis 1."""
    graph = parts[0].graph
    return Number(graph, graph.node("Concat", *(part.name for part in parts), axis=1))
