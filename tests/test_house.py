"""The house style, as far as it can be counted: names that say what a value is, verbs first, reasons for numbers."""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

from onrecord import errors
from tests.source_tree import FILES, tree, trees

ROOT = Path(__file__).parents[1]

VERBS = frozenset(
    """
    Accept Act Add Append Apply Ask Bring Call Carry Check Close Commit Compare Connect Count Create Decide
    Delete Disconnect Do Draft Drop End Enter Fetch Find Finish Follow Forget Give Handle Import Index Interrupt
    Judge Keep Kill Leave Let Link List Load Lock Log Look Make Mark Merge Move Note Open Override Overwrite
    Parse Pick Print Pull Push Put Raise Read Reconcile Record Redirect Refuse Reject Remove Rename Replace
    Replay Reply Report Request Reserve Restore Retire Return Revoke Run Save Search Send Serve Set Show Split
    Start Store Switch Sync Take Translate Treat True Turn Undo Unify Update Upgrade Use Wait Warn Write Yield
    """.split()
)
"""First words of docstrings of functions; `True if …` is how a predicate begins. Add the verb that you need."""

MAX_TYPES = 2
"""Types that an argument name may have in the whole package."""

PROTOCOL = ("mcp/reading.py", "mcp/drafting.py")
"""Tools, whose arguments have the names that agents use."""

SAY_NOTHING = {"utils", "helpers", "common", "misc", "manager"}
CATCH_ALL_ALLOWED = {
    "cli/__init__.py": "the entrance for people: a traceback, and exit code 3",
    "hooks/__init__.py": "the entrance for agents: a session never breaks, not even where the failure log does",
    "state_file.py": "the failure log: its caller is failing already",
    "budget.py": "a step of a hook that fails must not cost the others",
    "recall/judge.py": "carried from a thread to the one that waits",
    "mcp/server.py": "one request that fails must not end the connection",
    "search/builder.py": "nobody sees the process: what fails is logged",
    "search/indexing.py": "one record must not keep the others from being found",
    "usage/usage_log.py": "the Stop hook has other work",
}


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


_COLLECTION = re.compile(
    r"(?:list|tuple|set|frozenset|AbstractSet|Set|Sequence|Iterable|Iterator|Collection)\[(.*?)(?:, \.\.\.)?\]"
)
_NO_VALUE = re.compile(r"\s*\| None|^None \| |^Optional\[(?=.*\]$)")
_EXCEPTIONS = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}


def _type(annotation: ast.expr) -> str:
    """Return what a value of `annotation` is: None, the kind of collection and the class of an error do not count."""
    text = _NO_VALUE.sub("", ast.unparse(annotation).strip("'\"")).replace("dict[", "Mapping[")
    if text.endswith(("Error", "Exception")) or text in _EXCEPTIONS:
        return "Exception"
    collection = _COLLECTION.fullmatch(text)
    return f"several {collection[1]}" if collection else text


def test_an_argument_name_says_what_the_value_is():
    types: dict[str, dict[str, str]] = {}
    for file, module in trees().items():
        for function in _functions(module) if file not in PROTOCOL else ():
            arguments = function.args
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                annotation = argument.annotation
                # Any and object say that the value may be anything.
                if annotation is not None and ast.unparse(annotation) not in ("Any", "object"):
                    places = types.setdefault(argument.arg, {})
                    places.setdefault(_type(annotation), f"{file}:{argument.lineno}")

    assert {name: places for name, places in types.items() if len(places) > MAX_TYPES} == {}


def test_a_public_class_name_means_one_thing():
    places: dict[str, list[str]] = {}
    for file, module in trees().items():
        for node in module.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(file)

    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_a_docstring_of_a_function_begins_with_a_verb():
    wrong = [
        f"{file}:{function.lineno} {docstring.splitlines()[0]}"
        for file, tree in trees().items()
        for function in _functions(tree)
        if (docstring := ast.get_docstring(function)) and not _is_property(function)
        if docstring.split()[0].rstrip(".,:;") not in VERBS
    ]

    assert wrong == []


def _is_property(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(decorator) in ("property", "cached_property") for decorator in function.decorator_list)


def test_the_package_can_be_skimmed():
    packages = [file for file in FILES if file.name == "__init__.py" and file.parent.name != "onrecord"]

    assert len(packages) <= 19
    assert len(FILES) <= 286


def test_no_module_is_named_for_nothing():
    assert [str(file) for file in FILES if file.stem in SAY_NOTHING] == []


def test_functions_fit_on_a_screen():
    lengths = {
        f"{file}:{function.name}": _length(function) for file, tree in trees().items() for function in _functions(tree)
    }

    assert {name: length for name, length in lengths.items() if length > 40} == {}


def test_modules_hold_one_thing():
    lines = {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8").count("\n") for file in FILES}

    assert {name: count for name, count in lines.items() if count > 500} == {}


def test_reasons_are_written_down():
    """Comments, and the texts below constants that say what they are for: at least two for a hundred lines."""
    reasons = lines = 0
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        lines += text.count("\n")
        reasons += sum(token.type == tokenize.COMMENT for token in tokenize.generate_tokens(io.StringIO(text).readline))
        reasons += sum(_is_text(node) for node in _after_constants(tree(file)))

    assert reasons / lines >= 0.02, f"{reasons} in {lines} lines"


def _after_constants(tree: ast.Module) -> Iterator[ast.stmt]:
    scopes = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]
    for body in scopes:
        for before, node in zip(body, body[1:]):
            if isinstance(before, (ast.Assign, ast.AnnAssign)):
                yield node


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _swallows_everything(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.ExceptHandler)
        and (node.type is None or getattr(node.type, "id", "") in ("Exception", "BaseException"))
        and not any(isinstance(child, ast.Raise) and child.exc is None for child in ast.walk(node))
    )


def test_everything_is_caught_only_where_there_is_a_reason():
    places = [file for file, tree in trees().items() for node in ast.walk(tree) if _swallows_everything(node)]

    assert sorted(set(places)) == sorted(CATCH_ALL_ALLOWED)


def test_only_the_door_of_a_command_sees_a_namespace():
    """`run` unpacks what was typed; the functions that it calls get a store, values, or what asks the person."""
    wrong = [
        f"{file}:{function.lineno} {function.name}"
        for file, tree in trees().items()
        if file not in ("cli/arguments.py", "cli/__init__.py")
        for function in _functions(tree)
        if function.name not in ("add_arguments", "run")
        for parameter in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
        if parameter.annotation is not None and "Namespace" in ast.unparse(parameter.annotation)
    ]

    assert wrong == []


def test_records_are_named_tuples_of_one_kind():
    """Data classes are imported from nowhere, and named tuples from `onrecord.coldstart` alone."""
    wrong = [
        f"{file}: {node.module}.{alias.name}"
        for file, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if (node.module, alias.name) in (("typing", "NamedTuple"), ("collections", "namedtuple"))
        or node.module == "dataclasses"
        if file != "coldstart.py"
    ]

    assert wrong == []


def test_a_skill_is_read_at_a_glance():
    lines = {
        skill.parent.name: skill.read_text(encoding="utf-8").count("\n") for skill in ROOT.glob("skills/*/SKILL.md")
    }

    assert len(lines) == 7
    assert {name: count for name, count in lines.items() if count >= 100} == {}


def test_no_file_has_the_marks_of_an_unfinished_merge():
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=True, timeout=600)
    files = [ROOT / name for name in os.fsdecode(listed.stdout).split("\0") if name]
    mark = re.compile(rb"^(?:<{7}|\|{7}|>{7}) ", re.MULTILINE)

    assert files
    assert [file for file in files if file.is_file() and mark.search(file.read_bytes())] == []
    assert mark.search(b"ours\n>>>>>>> 85a16826 (theirs)\n")
