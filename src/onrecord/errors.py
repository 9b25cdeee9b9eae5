"""The errors that a person or an agent can fix, each with a stable code, a message and a fix.

OnrecordError
├── NoStore        NO_STORE            the project has no memory
├── NotFound       NOT_FOUND           no such record
├── Ambiguous      AMBIGUOUS           two or more records match that id
├── AlreadyExists  ALREADY_EXISTS      there is a record with that id, whatever its status
├── NearDuplicate  NEAR_DUPLICATE      another record says nearly the same
├── Changed        CHANGED_SINCE_READ  the record was changed after it was read
├── CannotUndo     CANNOT_UNDO         a change cannot be undone without losing a later one
├── Invalid        INVALID_RECORD      the record is not valid
├── BadRecord      BAD_RECORD          a file in the store cannot be read as a record
├── SecretFound    SECRET_FOUND        a field contains a credential
├── WrongState     WRONG_STATE         the record's status does not allow this
├── UnsafePath     UNSAFE_PATH         a path leads out of the store
├── Locked         LOCKED              another process has locked the store
├── Unwritable     UNWRITABLE          a file cannot be written
├── NoSqlite       NO_SQLITE           this Python has no SQLite, which search needs
├── NoModel        NO_MODEL            the settings and keys name no usable model
├── ModelFailed    MODEL_FAILED        a model gave no usable answer
├── Offline        OFFLINE             a remote cannot be reached
├── Refused        REFUSED             a remote does not allow it
├── BadRemote      BAD_REMOTE          the content of a remote cannot be a shared store
├── SwitchedOff    SWITCHED_OFF        an environment variable switches everything off
├── Stopped        STOPPED             the user stopped before anything was written
├── CommandFailed  COMMAND_FAILED      another program failed
└── BadInput       BAD_INPUT           an argument cannot be used
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
    def remedies(self) -> list[Remedy]:
        """The parts of the fix, each an instruction or a command: each surface says them in its own words."""
        from onrecord import remedy

        return remedy.parse(self.fix)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class NoStore(OnrecordError):
    code = "NO_STORE"


class NotFound(OnrecordError):
    code = "NOT_FOUND"


class Ambiguous(OnrecordError):
    code = "AMBIGUOUS"


class AlreadyExists(OnrecordError):
    code = "ALREADY_EXISTS"


class NearDuplicate(OnrecordError):
    code = "NEAR_DUPLICATE"


class Changed(OnrecordError):
    code = "CHANGED_SINCE_READ"


class CannotUndo(OnrecordError):
    code = "CANNOT_UNDO"


class Invalid(OnrecordError):
    code = "INVALID_RECORD"


class BadRecord(OnrecordError):
    code = "BAD_RECORD"


class SecretFound(OnrecordError):
    code = "SECRET_FOUND"


class WrongState(OnrecordError):
    code = "WRONG_STATE"


class UnsafePath(OnrecordError):
    code = "UNSAFE_PATH"


class Locked(OnrecordError):
    code = "LOCKED"


class Unwritable(OnrecordError):
    code = "UNWRITABLE"


class NoSqlite(OnrecordError):
    code = "NO_SQLITE"


class NoModel(OnrecordError):
    code = "NO_MODEL"


class ModelFailed(OnrecordError):
    """`detail` is the server's own text: shown to the user, never written to a log."""

    code = "MODEL_FAILED"

    def __init__(self, message: str, fix: str = "", *, http_status: int = 0, detail: str = "") -> None:
        super().__init__(message, fix)
        self.http_status = http_status
        self.detail = detail


class Offline(OnrecordError):
    code = "OFFLINE"


class Refused(OnrecordError):
    code = "REFUSED"


class BadRemote(OnrecordError):
    code = "BAD_REMOTE"


class SwitchedOff(OnrecordError):
    code = "SWITCHED_OFF"


class Stopped(OnrecordError):
    code = "STOPPED"


class CommandFailed(OnrecordError):
    code = "COMMAND_FAILED"


class BadInput(OnrecordError):
    code = "BAD_INPUT"
