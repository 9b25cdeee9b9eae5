"""What can go wrong that a person or an agent can fix: a stable code, what was wrong, and what to do next.

OnrecordError
├── NoStore        NO_STORE            there is no memory in this project
├── NotFound       NOT_FOUND           no such record
├── Ambiguous      AMBIGUOUS           two records answer to that id
├── AlreadyExists  ALREADY_EXISTS      a record of that id is there, whatever its status
├── NearDuplicate  NEAR_DUPLICATE      a record says nearly the same already
├── Changed        CHANGED_SINCE_READ  somebody wrote the record since it was read
├── CannotUndo     CANNOT_UNDO         a change cannot be taken back without losing a later one
├── Invalid        INVALID_RECORD      what was given is not a valid record
├── BadRecord      BAD_RECORD          a file in the store cannot be read as a record
├── SecretFound    SECRET_FOUND        a field carries a credential
├── WrongState     WRONG_STATE         that step does not lead from this record's status
├── UnsafePath     UNSAFE_PATH         a path leads out of the store
├── Locked         LOCKED              another process holds the store
├── Unwritable     UNWRITABLE          the disk refused a write
├── NoModel        NO_MODEL            no model can be asked with the settings and keys there are
├── ModelFailed    MODEL_FAILED        a model was asked and gave no usable answer
├── Offline        OFFLINE             a remote cannot be reached
├── Refused        REFUSED             a remote does not allow it
├── BadRemote      BAD_REMOTE          what a remote holds cannot be a shared store
├── SwitchedOff    SWITCHED_OFF        everything is switched off by an environment variable
├── Stopped        STOPPED             somebody stopped before anything was written
├── CommandFailed  COMMAND_FAILED      a program of somebody else failed
└── BadInput       BAD_INPUT           the command was given something it cannot use
"""

from __future__ import annotations


class OnrecordError(Exception):
    """An expected failure: `code` is stable, the message says what was wrong, `fix` what to do next."""

    code = "ERROR"

    def __init__(self, message: str, fix: str = "", places: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.places = places
        """Which fields of a record are wrong, and how, where that is known: a form shows it there."""

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


class NoModel(OnrecordError):
    code = "NO_MODEL"


class ModelFailed(OnrecordError):
    """`detail` is in the server's own words: for the person who asked, never for a log."""

    code = "MODEL_FAILED"

    def __init__(self, message: str, fix: str = "", *, status: int = 0, detail: str = "") -> None:
        super().__init__(message, fix)
        self.status = status
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
