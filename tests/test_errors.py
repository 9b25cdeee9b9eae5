from __future__ import annotations

import re
from pathlib import Path

import pytest

from onrecord import errors
from onrecord.cli import docs

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.OnrecordError) and kind is not errors.OnrecordError
]


def test_every_error_has_a_code_of_its_own():
    codes = [kind.code for kind in KINDS]

    assert len(set(codes)) == len(codes) > 10
    assert all(re.fullmatch("[A-Z]+(_[A-Z]+)*", code) for code in codes)
    assert "ERROR" not in codes


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_says_in_a_sentence_or_two_what_its_code_means(kind):
    meaning = (kind.__doc__ or "").split("\n\n")[0]

    assert meaning.endswith(".") and 20 < len(meaning) <= 120


def test_the_page_of_errors_has_every_code_with_its_meaning():
    page = (Path(__file__).parents[1] / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")

    for kind in KINDS:
        assert f"\n## {kind.code}\n\n{kind.__doc__.splitlines()[0]}\n" in page


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_says_its_code_what_was_wrong_and_what_to_do(kind):
    error = kind("it broke", fix="mend it")

    assert (str(error), error.message, error.fix) == (f"{kind.code}: it broke", "it broke", "mend it")


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_that_an_error_names_prints_what_its_code_means(kind):
    error = kind("it broke")

    (passage,) = docs.find(error.docs.split()[2:])

    assert error.docs == f"onrecord docs {kind.code}"
    assert (passage.page, passage.heading) == ("reference/errors", kind.code)
    assert error.meaning.endswith(".") and error.meaning in passage.source
