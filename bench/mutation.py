"""Small changes to a module that a good test suite should notice."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

Change = tuple[str, ast.AST, str]
"""Operator, the node whose text is replaced, and the new text."""

Key = tuple[str, str, str, str]
"""File, text of the line, operator and change: what stays the same when lines move."""

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}
_BLOCKS = ("body", "orelse", "finalbody")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LONGEST_LIST = 12
"""A longer list of constants or words is data (word lists, tables, prose): no test is expected to name each of them."""

LARGE = 100
"""From here on a number is a limit that one more or less hardly changes: it is doubled and halved."""


class Mutant(NamedTuple):
    """One change: where it is, what it does, and the byte range that it replaces."""

    path: str
    line: int
    block: int
    operator: str
    text: str
    change: str
    start: int
    end: int
    new: str

    def apply(self, source: str) -> str:
        data = source.encode()
        return (data[: self.start] + self.new.encode() + data[self.end :]).decode()

    @property
    def key(self) -> Key:
        return self.path, self.text, self.operator, self.change


def mutants(path: str, source: str) -> list[Mutant]:
    """Return every mutant of a module; none of a module without functions, which holds data."""
    tree = ast.parse(source)
    if not has_functions(tree):
        return []
    lines = source.encode().split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    result = []
    for block, (operator, node, new) in _visit(tree, 0):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        old = source.encode()[start:end].decode()
        text = lines[node.lineno - 1].decode().strip()
        change = f"{' '.join(old.split())} -> {new}"
        result.append(Mutant(path, node.lineno, block, operator, text, change, start, end, new))
    return result


def has_functions(tree: ast.AST) -> bool:
    return any(isinstance(node, _FUNCTIONS) for node in ast.walk(tree))


def blocks(function: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the lists of statements directly in a node."""
    for name in _BLOCKS:
        statements = getattr(function, name, None)
        if isinstance(statements, list) and statements:
            yield statements


def _visit(node: ast.AST, block: int) -> Iterator[tuple[int, Change]]:
    """Yield changes in a node and below it, each with the first line of its block; 0 outside of functions."""
    if _is_skipped(node):
        return
    for change in _changes(node):
        yield block, change
    inside = block or isinstance(node, _FUNCTIONS)
    first = {id(child): part[0].lineno for part in blocks(node) if inside for child in part}
    for child in _children(node):
        yield from _visit(child, first.get(id(child), block))


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield child nodes except annotations and decorators."""
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list"):
            yield from (
                child for child in (value if isinstance(value, list) else [value]) if isinstance(child, ast.AST)
            )


def _is_skipped(node: ast.AST) -> bool:
    if isinstance(node, ast.JoinedStr):  # before Python 3.12 the parts of an f-string have no true positions
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.Assign):
        return any(
            isinstance(target, ast.Name) and target.id in ("__all__", "TYPE_CHECKING") for target in node.targets
        )
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return len(node.value.split()) > LONGEST_LIST
    parts = getattr(node, "elts", None) or getattr(node, "keys", None) or []
    return len(parts) > LONGEST_LIST and all(isinstance(part, ast.Constant) for part in parts)


def _changes(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        yield from _compare(node)
    elif isinstance(node, ast.BoolOp):
        swapped = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and/or", node, _expression(ast.BoolOp(swapped, node.values))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not dropped", node, _expression(node.operand)
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC and not _is_text(node):
        yield "arithmetic", node, _expression(ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right))
    elif isinstance(node, ast.Constant):
        yield from (("constant", node, new) for new in _constants(node.value))
    elif isinstance(node, ast.Slice):
        yield from _slice(node)
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        yield from _condition(node.test)
    elif isinstance(node, ast.comprehension):
        yield from (change for test in node.ifs for change in _condition(test))
    elif isinstance(node, ast.Return) and node.value is not None:
        yield from _return(node.value)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "call removed", node, "pass"


def _compare(node: ast.Compare) -> Iterator[Change]:
    for number, op in enumerate(node.ops):
        ops = [*node.ops[:number], _COMPARISONS[type(op)](), *node.ops[number + 1 :]]
        yield "comparison", node, _expression(ast.Compare(node.left, ops, node.comparators))


def _condition(test: ast.expr) -> Iterator[Change]:
    """Yield the negated test, but for comparisons and `not`: they are turned round by operators of their own."""
    if not isinstance(test, (ast.Compare, ast.UnaryOp)):
        yield "condition", test, f"(not {_expression(test)})"


def _slice(node: ast.Slice) -> Iterator[Change]:
    if node.lower is not None:
        yield "slice", node, ast.unparse(ast.Slice(None, node.upper, node.step))
    if node.upper is not None:
        yield "slice", node, ast.unparse(ast.Slice(node.lower, None, node.step))


def _return(value: ast.expr) -> Iterator[Change]:
    if isinstance(value, (ast.Compare, ast.BoolOp)):
        yield "return", value, f"(not {_expression(value)})"
    elif not isinstance(value, ast.Constant):
        yield "return", value, "None"


def _constants(value: object) -> list[str]:
    if isinstance(value, bool):
        return [repr(not value)]
    if isinstance(value, int) and value >= LARGE:
        return [repr(value * 2), repr(value // 2)]
    if isinstance(value, (int, float)):
        return [repr(value + 1), f"({value - 1!r})"]
    if isinstance(value, str):
        return [repr(f"XX{value}XX"), "''"] if value else ["'XX'"]
    return [repr(b"XX" + value)] if isinstance(value, bytes) else []


def _is_text(node: ast.BinOp) -> bool:
    """True if an operand is a string, where any other operator fails at once."""
    return any(
        isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, (str, bytes)))
        for part in (node.left, node.right)
    )


def _expression(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"
