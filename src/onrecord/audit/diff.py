"""A change to files, as checks see it: parsed from a diff, or read from git and the working tree.

A diff may come from anybody: every part of it is bounded, and no path in it leads out of the project.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from onrecord import files, paths
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput
from onrecord.git import changes
from onrecord.git.repository import MAX_LISTING_BYTES, Repository, is_commit
from onrecord.record.check import MAX_LINE_CHARACTERS, FileLines, Line, added_lines
from onrecord.text import plural

MAX_DIFF_BYTES = MAX_LISTING_BYTES
MAX_LINES = 400_000
_MAX_FILES = 2_000
_MAX_FILE_BYTES = 2_000_000
_GIT_SECONDS = 20
_MAX_PARENTS = 64
"""Versions that a diff of a merge compares a file with."""

_MAX_LINES_PAIRED = 1_000_000
"""Lines that are compared to find out which new files are old ones under another name."""

_LEAST_ALIKE = 0.5
"""The part of a text that must be the same in a file with another name, as for git."""

_AT_ONCE = 8
"""Files whose earlier text is asked of git at the same time."""

_BINARY_BYTES = 8_000
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""Git's tree without files, for a repository without a commit."""

_DIFF = (
    "-r", "-p", "-U0", "-M", "-l400", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short",
    "--src-prefix=a/", "--dst-prefix=b/", f"-O{os.devnull}",
)  # fmt: skip
_PREFIXES = ("a/", "b/", "i/", "w/", "c/", "o/")
_COMBINED = ("diff --cc ", "diff --combined ")
_UNMERGED = "* Unmerged path "
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


class ChangedFile(NamedTuple):
    """One file of a change."""

    lines: FileLines
    old_path: str = ""
    """Its path before, if it was renamed."""
    is_deleted: bool = False

    @property
    def path(self) -> str:
        return self.lines.path


class ChangeSet(NamedTuple):
    """The files of a change, and notes on what of it could not be read."""

    files: tuple[ChangedFile, ...]
    notes: tuple[str, ...] = ()
    is_applied: bool = True
    """False for a diff that may not be in the working tree."""
    store_files: tuple[str, ...] = ()
    """Paths of the files of stores that the change adds or changes; they are not checked."""

    @property
    def line_count(self) -> int:
        return sum(len(file.lines.added) for file in self.files)


class _Reader:
    """Reads a unified diff line by line.

    Of a combined diff, which compares a merge with each of its parents, the difference to the first one is read.
    """

    def __init__(self) -> None:
        self.files: list[ChangedFile] = []
        self.store_files: list[str] = []
        self._added: list[Line] = []
        self._removed: list[str] = []
        self._names: dict[str, str] = {}
        self._old_left = [0]
        self._new_left = self._number = 0
        """Lines of the hunk that are left, of each old and of the new text, and the number of the next new one."""
        self.unread = 0
        """Hunks and files that are named but cannot be read."""

    def read(self, line: str) -> None:
        if self._new_left > 0 or any(left > 0 for left in self._old_left):
            self._content(line)
        elif line.startswith("diff "):
            self.end_file()
            self._names = {"diff": line}
        elif line.startswith("--- "):
            if "+++" in self._names:
                self.end_file()
            self._names["---"] = _name(line[4:])
        elif line.startswith("+++ "):
            self._names["+++"] = _name(line[4:])
        elif line.startswith("@@"):
            self._hunk(line)
        elif line.startswith(_UNMERGED):
            self.unread += 1
        else:
            for mark in ("new file mode", "deleted file mode", "rename from", "rename to", "Binary files"):
                if line.startswith(f"{mark} "):
                    self._names[mark] = _unquoted(line[len(mark) + 1 :])

    def _content(self, line: str) -> None:
        if line.startswith("\\"):
            return
        count = len(self._old_left)
        marks, text = line[:count].ljust(count), line[count : MAX_LINE_CHARACTERS + count].removesuffix("\r")
        # A line that is lost is in the versions marked with -, any other one in those that are not marked with +.
        is_lost = "-" in marks
        if marks[0] == "+":
            self._added.append(Line(self._number, text))
        elif marks[0] == "-":
            self._removed.append(text)
        self._old_left = [left - (mark == "-" if is_lost else mark != "+") for left, mark in zip(self._old_left, marks)]
        self._new_left -= not is_lost
        self._number += not is_lost

    def _hunk(self, line: str) -> None:
        """Start a hunk, such as `@@ -1,2 +1,3 @@`; with two old versions, `@@@ -1,2 -1,2 +1,3 @@@`."""
        mark = line.partition(" ")[0]
        count = len(mark) - 1
        parts = line.split(" ", count + 3) if set(mark) == {"@"} and count <= _MAX_PARENTS else []
        signs = [part[:1] for part in parts[1 : count + 2]]
        if len(parts) < count + 3 or signs != ["-"] * count + ["+"]:
            self.unread += 1
            return
        self._old_left = [_range(part[1:])[1] for part in parts[1 : count + 1]]
        self._number, self._new_left = _range(parts[count + 1][1:])

    def end_file(self) -> None:
        """Keep the file that was read so far, if there is one with a path in the project."""
        self._old_left, self._new_left = [0], 0
        names = self._names
        old = names.get("rename from") or names.get("---", "")
        new = names.get("rename to") or names.get("+++", "") or _from_header(names.get("diff", ""))
        is_new = "new file mode" in names or (old == os.devnull and new != os.devnull)
        is_deleted = "deleted file mode" in names or new == os.devnull
        path = (old if new == os.devnull else new) or old
        if _is_inside(path) and is_record(path) and not is_deleted and len(self.store_files) < _MAX_FILES:
            self.store_files.append(path)
        if _is_inside(path) and not is_record(path) and len(self.files) < _MAX_FILES:
            lines = FileLines(path, self._added, self._removed, is_new)
            was_renamed = "rename from" in names and _is_inside(old)
            self.files.append(ChangedFile(lines, old if was_renamed else "", is_deleted))
        self._added, self._removed, self._names = [], [], {}


def parse(text: str) -> ChangeSet:
    """Return the files of a diff, in the form of git or of `diff -u`."""
    reader, notes = _Reader(), []
    lines = text.split("\n", MAX_LINES)
    if len(lines) > MAX_LINES:
        notes.append(f"only the first {MAX_LINES:,} lines of the diff were read")
        lines.pop()
    for line in lines:
        reader.read(line)
    reader.end_file()
    if len(reader.files) >= _MAX_FILES:
        notes.append(f"only the first {_MAX_FILES:,} files of the diff were read")
    if reader.unread:
        notes.append(f"{plural(reader.unread, 'part')} of the diff could not be read, such as files not merged yet")
    return ChangeSet(tuple(reader.files), tuple(notes), is_applied=False, store_files=tuple(reader.store_files))


def _range(text: str) -> tuple[int, int]:
    """Return the first line and the number of lines of a side of a hunk, such as `12,3`."""
    start, comma, count = text.partition(",")
    is_plain = start.isdigit() and len(start) < 10 and (not comma or (count.isdigit() and len(count) < 10))
    return (int(start), int(count) if comma else 1) if is_plain and text.isascii() else (0, 0)


def _name(text: str) -> str:
    """Return the path of a `---` or `+++` line."""
    path = _unquoted(text.removesuffix("\r").partition("\t")[0])
    return path[2:] if path.startswith(_PREFIXES) else path


def _unquoted(text: str) -> str:
    """Return a path that git may have written in quotes, with escapes for bytes."""
    text = text.strip().removesuffix("\r")
    if len(text) < 2 or not text.startswith('"') or not text.endswith('"'):
        return text
    data, place, body = bytearray(), 0, text[1:-1]
    while place < len(body):
        char, following = body[place], body[place + 1 : place + 4]
        if char != "\\" or not following:
            data += char.encode("utf-8", "surrogatepass")
            place += 1
        elif len(following) == 3 and set(following) <= set("01234567"):
            data.append(int(following, 8) & 0xFF)
            place += 4
        else:
            data.append(_ESCAPES.get(following[0], ord("?")))
            place += 2
    return data.decode("utf-8", "replace")


def _from_header(line: str) -> str:
    """Return the path in `diff --git a/x b/x`, for a file without changed lines; empty if it cannot be told."""
    if line.startswith(_COMBINED):
        return _unquoted(line.split(" ", 2)[2])
    words = line.removeprefix("diff --git ")
    if words == line or words.startswith('"'):
        return ""
    half = (len(words) - 1) // 2
    return words[half + 3 :] if words[2:half] == words[half + 3 :] else ""


def is_record(path: str) -> bool:
    """True for a file of a store: a record has the texts of its own checks, and may be about any file."""
    return f"/{paths.STORE}/" in f"/{path}"


def _is_inside(path: str) -> bool:
    parts = path.replace("\\", "/").split("/")
    return bool(path) and not os.path.isabs(path) and ".." not in parts and "\0" not in path and ".git" not in parts


def staged(repository: Repository, project: str) -> ChangeSet:
    """Return what is staged. Raises BadInput if git does not answer."""
    base = repository.head or _EMPTY_TREE
    return _from_git(repository, project, ("diff-index", "--cached", *_DIFF, base))


def between(repository: Repository, project: str, old: str, new: str) -> ChangeSet:
    """Return the difference of two commits. Raises BadInput if git does not answer."""
    return _from_git(repository, project, ("diff-tree", *_DIFF, old, new))


def _from_git(repository: Repository, project: str, words: Sequence[str]) -> ChangeSet:
    inner = repository.inner(project)
    result = repository.run(*words, "--", *([inner] if inner else []), deadline=time.monotonic() + _GIT_SECONDS)
    if not result.is_good:
        raise _not_compared(result.reason)
    change_set = parse(result.output.decode("utf-8", "replace"))
    notes = change_set.notes
    if len(result.output) >= MAX_DIFF_BYTES:
        notes = (*notes, f"only the first {MAX_DIFF_BYTES // 1_000_000} MB of the diff were read")
    own = tuple(path[len(inner) :] for path in change_set.store_files if path.startswith(inner))
    return ChangeSet(tuple(below(change_set.files, inner)), notes, store_files=own)


def _not_compared(reason: str) -> BadInput:
    """Return the error for files that git did not compare: they may not pass for ones in which nothing has changed."""
    return BadInput(f"git could not compare: {reason}", fix="try git diff, or give its output on standard input")


def below(changed_files: Iterable[ChangedFile], inner: str) -> Iterator[ChangedFile]:
    """Yield the files of a change that are in the folder `inner` of the repository, relative to it."""
    for file in changed_files:
        if file.path.startswith(inner):
            lines = file.lines._replace(path=file.path[len(inner) :])
            yield file._replace(lines=lines, old_path=file.old_path.removeprefix(inner))


def commit_of(repository: Repository, revision: str) -> str:
    """Return the commit that a revision names. Raises BadInput."""
    commit = ""
    if revision and not revision.startswith("-") and "\0" not in revision:
        words = ("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        result = repository.run(*words, deadline=time.monotonic() + _GIT_SECONDS)
        commit = result.output.decode("ascii", "replace").strip() if result.is_good else ""
    if not is_commit(commit):
        raise BadInput(
            f"{revision!r} is neither a file nor a commit", fix="name a file, a commit, or A..B; list: git log"
        )
    return commit


def merge_base(repository: Repository, old: str, new: str) -> str:
    """Return the commit at which two commits part. Raises BadInput."""
    result = repository.run("merge-base", old, new, deadline=time.monotonic() + _GIT_SECONDS)
    commit = result.output.decode("ascii", "replace").split("\n")[0].strip()
    if not is_commit(commit):
        raise BadInput(
            "the two commits have no common ancestor here", fix="fetch more of the history: git fetch --unshallow"
        )
    return commit


def work_tree(repository: Repository, project: str, base: str) -> ChangeSet:
    """Return how the working tree differs from a commit; empty `base` for a repository without one.

    Raises BadInput if git does not answer.
    """
    deadline = time.monotonic() + _GIT_SECONDS
    names = dict.fromkeys(changes.all_uncommitted(repository, project, deadline))
    for note in repository.notes:
        if note != changes.INCOMPLETE:
            raise _not_compared(note)
    head, inner = repository.head, repository.inner(project)
    if base and head and base != head:
        words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", base, head, "--", *([inner] if inner else []))
        result = repository.run(*words, deadline=deadline)
        if not result.is_good:
            raise _not_compared(result.reason)
        committed = result.output.decode("utf-8", "replace").split("\0")
        names.update(
            dict.fromkeys(name[len(inner) :] for name in committed if name.startswith(inner) and name != inner)
        )
    changed_names = [name for name in names if not name.endswith("/") and not is_record(name)]
    notes = list(repository.notes)
    notes += [f"only {changes.MAX_FILES} changed files were read"] if len(changed_names) > changes.MAX_FILES else []
    changed = _compared(repository, project, base, changed_names[: changes.MAX_FILES], deadline)
    own = tuple(name for name in names if is_record(name) and files.is_regular(os.path.join(project, name)))
    return ChangeSet(tuple(_with_renames(list(changed))), tuple(notes), store_files=own)


def _compared(
    repository: Repository, project: str, base: str, names: Sequence[str], deadline: float
) -> Iterator[ChangedFile]:
    inner = repository.inner(project)
    for start in range(0, len(names), _AT_ONCE):
        batch = names[start : start + _AT_ONCE]
        commands = [(("cat-file", "blob", f"{base}:{inner}{name}"), False) for name in batch] if base else []
        results = repository.run_all(commands, deadline) if commands else []
        # Of a file that the commit lacks, git says so; one that it did not get to is not new.
        for result in results:
            if result.status is None:
                raise _not_compared(result.reason)
        old_texts = [result.output if result.is_good else None for result in results] or [None] * len(batch)
        for name, old in zip(batch, old_texts):
            full = os.path.join(project, name)
            new_text, old_text = _text(full), _decoded(old or b"")
            is_deleted = not files.is_there(full)
            lines = added_lines(name, old_text, new_text, is_new=old is None and not is_deleted)
            yield ChangedFile(lines, is_deleted=is_deleted)


def _with_renames(changed_files: Sequence[ChangedFile]) -> Iterator[ChangedFile]:
    """Yield the files of a change, a deleted file and a new one with much the same text as one that was renamed."""
    deleted = {file.path: _counted(file.lines.removed) for file in changed_files if file.is_deleted}
    created = {
        file.path: _counted(line.text for line in file.lines.added) for file in changed_files if file.lines.is_new
    }
    old_paths = _pairs(deleted, created)
    renamed = set(old_paths.values())
    for file in changed_files:
        old_path = old_paths.get(file.path, "")
        if old_path:
            counts, added = deleted[old_path].copy(), []
            for line in file.lines.added:
                counts[line.text] -= 1
                added += [line] if counts[line.text] < 0 and line.text.strip() else []
            removed = [text for text, count in counts.items() for _ in range(count)]
            yield ChangedFile(FileLines(file.path, added, removed), old_path)
        elif file.path not in renamed:
            yield file


def _counted(texts: Iterable[str]) -> Counter[str]:
    """Return how often each line occurs; empty lines tell nothing."""
    return Counter(text[:MAX_LINE_CHARACTERS] for text in texts if text.strip())


def _pairs(deleted: Mapping[str, Counter[str]], created: Mapping[str, Counter[str]]) -> dict[str, str]:
    """Return the old paths of new files: those with the same lines first, then those that are most alike."""
    old_paths: dict[str, str] = {}
    by_lines: dict[frozenset[tuple[str, int]], list[str]] = {}
    for path, lines in deleted.items():
        by_lines.setdefault(frozenset(lines.items()), []).append(path)
    for path, lines in created.items():
        same = by_lines.get(frozenset(lines.items())) if lines else None
        old_paths.update({path: same.pop(0)} if same else {})
    rest = [path for paths_left in by_lines.values() for path in paths_left]
    left, alike = _MAX_LINES_PAIRED, []
    for path in [path for path in created if path not in old_paths]:
        for old_path in rest:
            left -= len(created[path]) + len(deleted[old_path])
            likeness = _likeness(created[path], deleted[old_path]) if left > 0 else 0.0
            alike += [(likeness, path, old_path)] if likeness >= _LEAST_ALIKE else []
    for _, path, old_path in sorted(alike, reverse=True):
        if path not in old_paths and old_path not in old_paths.values():
            old_paths[path] = old_path
    return old_paths


def _likeness(these: Counter[str], those: Counter[str]) -> float:
    """Return which part of the longer one of two texts is in both, from 0 to 1."""
    sizes = [sum(len(text) * count for text, count in lines.items()) for lines in (these, those, these & those)]
    return sizes[2] / max(sizes[0], sizes[1], 1)


def whole(project: str, names: Sequence[str]) -> ChangeSet:
    """Return files as if all their lines were added. Raises BadInput for one outside of the project."""
    changed = []
    for name in names:
        file = _whole_file(project, name)
        if file is None:
            raise BadInput(f"{name} is not in the project {project}", fix="name files of the project")
        changed.append(file)
    return ChangeSet(tuple(changed))


def tracked(project: str, names: Iterable[str]) -> Iterator[FileLines]:
    """Yield files that git lists as if all their lines were new, without links that lead out of the project."""
    for name in names:
        file = _whole_file(project, os.path.join(project, name))
        if file is not None:
            yield file.lines._replace(is_new=True)


def _whole_file(project: str, name: str) -> ChangedFile | None:
    root, full = os.path.realpath(project), os.path.realpath(name)
    if not full.startswith(os.path.join(root, "")):
        return None
    path = full[len(root) + 1 :].replace(os.sep, "/")
    return ChangedFile(added_lines(path, "", _text(full), is_new=False))


def _text(full: str) -> str:
    """Return the text of a file; empty for a folder, a link, and what is no text. Raises Unwritable.

    A file that cannot be read may not pass for one in which nothing is wrong.
    """
    if os.path.islink(full) or not files.is_regular(full):
        return ""
    return _decoded(files.read_if_there(full, _MAX_FILE_BYTES))


def _decoded(data: bytes) -> str:
    return "" if b"\0" in data[:_BINARY_BYTES] else data.decode("utf-8", "replace")
