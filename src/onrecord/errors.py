"""The errors that a person or an agent can fix, each with a stable code, a message and a fix.

The docstring of a class is what docs/reference/errors.md says about its code.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.remedy import Remedy


class OnrecordError(Exception):
    """An expected failure: `code` is stable, the message says what was wrong, `fix` what to do next."""

    code = "ERROR"

    def __init__(self, message: str, fix: str = "", field_errors: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.field_errors = field_errors
        """The wrong fields of a record and what is wrong with each, for a form."""

    @property
    def meaning(self) -> str:
        """A sentence that says what the code means; empty in a Python that leaves out docstrings."""
        words, stop, _ = (type(self).__doc__ or "").split("\n")[0].partition(". ")
        return words + stop.strip()

    @property
    def docs(self) -> str:
        """The command that prints the page of the code."""
        return docs_command(self.code)

    @property
    def remedies(self) -> list[Remedy]:
        """The parts of the fix, each an instruction or a command: each surface says them in its own words."""
        from onrecord import remedy

        return remedy.parse(self.fix)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


def docs_command(code: str) -> str:
    """Return the command that prints the page of an error."""
    return f"onrecord docs {code}"


class NoStore(OnrecordError):
    """There is no memory here yet. `onrecord init` makes one; `onrecord save` makes it with its first record."""

    code = "NO_STORE"


class NotFound(OnrecordError):
    """Nothing has this name: no record, draft, shared store or change. The message names what is most like it."""

    code = "NOT_FOUND"


class Ambiguous(OnrecordError):
    """Several records fit this name. Give more of the id, or one of the ids that the message lists."""

    code = "AMBIGUOUS"


class AlreadyExists(OnrecordError):
    """A record with this id exists already, whatever its status. Update it, restore it, or choose another title."""

    code = "ALREADY_EXISTS"


class NearDuplicate(OnrecordError):
    """Another record says nearly the same. Update that one, or supersede it if it no longer holds."""

    code = "NEAR_DUPLICATE"


class Changed(OnrecordError):
    """The record was changed after you read it, so nothing was written. Read it again and repeat your change."""

    code = "CHANGED_SINCE_READ"


class CannotUndo(OnrecordError):
    """The change cannot be undone without losing a later one. Undo the later one first."""

    code = "CANNOT_UNDO"


class Invalid(OnrecordError):
    """The record is not valid: the message names each field and what is wrong with it. Nothing was written."""

    code = "INVALID_RECORD"


class BadRecord(OnrecordError):
    """A file in the store cannot be read as a record. It is set aside until it is corrected."""

    code = "BAD_RECORD"


class SecretFound(OnrecordError):
    """A field contains a credential, which others would read. Say where it is kept instead."""

    code = "SECRET_FOUND"


class WrongState(OnrecordError):
    """The status of the record does not allow this: it is retired, archived or superseded already, or not yet."""

    code = "WRONG_STATE"


class UnsafePath(OnrecordError):
    """A path leads out of the store or the project, for example through a link. It is not followed."""

    code = "UNSAFE_PATH"


class Locked(OnrecordError):
    """Another process has locked the store for longer than ten seconds. Nothing was written; try again."""

    code = "LOCKED"


class Unwritable(OnrecordError):
    """A file cannot be read or written: the disk is full or failing, or the file belongs to somebody else."""

    code = "UNWRITABLE"


class NoSqlite(OnrecordError):
    """This Python has no SQLite, which search needs. Use another Python."""

    code = "NO_SQLITE"


class NoModel(OnrecordError):
    """The judge or the improver needs a model, and your settings and keys name no usable one."""

    code = "NO_MODEL"


class ModelFailed(OnrecordError):
    """A model gave no usable answer. Memory goes on without it.

    `detail` is the server's own text: shown to the user, never written to a log.
    """

    code = "MODEL_FAILED"

    def __init__(self, message: str, fix: str = "", *, http_status: int = 0, detail: str = "") -> None:
        super().__init__(message, fix)
        self.http_status = http_status
        self.detail = detail


class Offline(OnrecordError):
    """A shared store cannot be reached. Nothing is lost: your changes wait in the replica."""

    code = "OFFLINE"


class Refused(OnrecordError):
    """A shared store does not allow this: you may only read it, or its team reviews changes first."""

    code = "REFUSED"


class BadRemote(OnrecordError):
    """The address leads to something that cannot be a shared store, or that holds what no store may hold."""

    code = "BAD_REMOTE"


class SwitchedOff(OnrecordError):
    """An environment variable switches everything off."""

    code = "SWITCHED_OFF"


class Stopped(OnrecordError):
    """You stopped before anything was written."""

    code = "STOPPED"


class CommandFailed(OnrecordError):
    """Another program that a command needs, such as git, failed."""

    code = "COMMAND_FAILED"


class BadInput(OnrecordError):
    """An argument cannot be used. Nothing was done."""

    code = "BAD_INPUT"
