"""Formulas of claims over published cells, found by walking their syntax: nothing is run."""

import ast
import operator
from collections.abc import Callable
from typing import Any

from fastdecode.config.papers import Paper

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "abs": abs,
    "round": round,
    "all": all,
    "sum": sum,
}
ARITHMETIC = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
ORDERS = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}


def holds(formula: str, paper: Paper) -> bool:
    """Say whether a formula is true of a paper's published cells."""
    return bool(_Walk(paper).of(ast.parse(formula, mode="eval").body, {}))


class _Walk:
    def __init__(self, paper: Paper) -> None:
        self.paper = paper

    def of(self, node: ast.expr, names: dict[str, Any]) -> Any:
        match node:
            case ast.Constant(value=int() | float()):
                return node.value
            case ast.Name():
                return names.get(node.id) or FUNCTIONS[node.id]
            case ast.Attribute(value=ast.Subscript(value=ast.Name(), slice=ast.Name())):
                return self.cell(node.value.value.id, node.value.slice.id, node.attr)
            case ast.Tuple() | ast.List():
                return [self.of(part, names) for part in node.elts]
            case ast.BinOp() if type(node.op) in ARITHMETIC:
                left, right = self.of(node.left, names), self.of(node.right, names)
                return ARITHMETIC[type(node.op)](left, right)
            case ast.BoolOp(op=ast.And()):
                return all(self.of(part, names) for part in node.values)
            case ast.Compare():
                parts = [self.of(part, names) for part in (node.left, *node.comparators)]
                pairs = zip(node.ops, parts, parts[1:], strict=False)
                return all(ORDERS[type(op)](one, other) for op, one, other in pairs)
            case ast.Call(func=ast.Name(), keywords=[]):
                arguments = [self.of(part, names) for part in node.args]
                return self.of(node.func, names)(*arguments)
            case ast.GeneratorExp(generators=[loop]) | ast.ListComp(generators=[loop]):
                return [
                    self.of(node.elt, names | self.bound(loop.target, value))
                    for value in self.of(loop.iter, names)
                ]
        raise ValueError(f"not a formula: {ast.unparse(node)}")

    def bound(self, target: ast.expr, value: Any) -> dict[str, Any]:
        match target:
            case ast.Name():
                return {target.id: value}
            case ast.Tuple():
                pairs = zip(target.elts, value, strict=True)
                return {key: one for part, x in pairs for key, one in self.bound(part, x).items()}
        raise ValueError(f"not a formula: {ast.unparse(target)}")

    def cell(self, artifact: str, row: str, column: str) -> float:
        value = self.paper.artifacts[artifact].rows[row][column]
        assert isinstance(value, int | float), (artifact, row, column)
        return value
