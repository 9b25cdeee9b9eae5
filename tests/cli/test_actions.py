"""Words and options of one action are refused by the others."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("line", "message", "usage"),
    [
        ("remote list --force", "does not take --force; `onrecord remote remove` does", "remote list"),
        ("remote --review", "does not take --review; `onrecord remote add` does", "remote list"),
        ("remote status --auto", "does not take --auto; `onrecord remote add` does", "remote status [NAME]"),
        ("remote list foo", "does not take 'foo'", "remote list"),
        ("remote remove a b", "does not take 'b'", "remote remove NAME [--force]"),
        ("remote remove", "needs NAME (none is connected)", "remote remove NAME [--force]"),
        ("remote add", "needs NAME and URL", "remote add NAME URL [--review] [--auto]"),
        ("hub status --create", "does not take --create; `onrecord hub grant` does", "hub status"),
        ("hub revoke ann --no-review", "does not take --review|--no-review; `onrecord hub init` does",
         "hub revoke LOGIN"),
        ("hub grant ann", "needs ROLE", "hub grant LOGIN ROLE [--create]"),
        ("sync --every 5", "does not take --every; `onrecord sync --watch` does",
         "sync [REMOTE…] [--missing=restore|delete]"),
        ("sync --dry-run --missing restore", "does not take --missing; `onrecord sync` does",
         "sync --dry-run [REMOTE…]"),
        ("sync --automatic platform", "does not take 'platform'", "sync --automatic"),
        ("config get a b", "does not take 'b'", "config get [KEY]"),
        ("config set", "needs KEY and VALUE (`onrecord config` lists the settings)", "config set KEY VALUE"),
        ("config unset", "needs KEY (`onrecord config` lists the settings)", "config unset KEY"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_the_right_usage(project, onrecord, line, message, usage):
    refused = onrecord(*line.split())

    assert refused.code == 1 and f" {message}\n" in refused.err
    assert f"fix: type it as: `onrecord {usage}`\n" in refused.err
