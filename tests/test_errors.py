from __future__ import annotations

import re

import pytest

from onrecord import errors

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


def test_the_list_at_the_top_of_the_module_is_complete():
    listed = dict(re.findall(r"[├└]── (\w+) +([A-Z_]+) ", errors.__doc__))

    assert listed == {kind.__name__: kind.code for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_says_its_code_what_was_wrong_and_what_to_do(kind):
    error = kind("it broke", fix="mend it")

    assert (str(error), error.message, error.fix) == (f"{kind.code}: it broke", "it broke", "mend it")
