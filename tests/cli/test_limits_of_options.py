"""The smallest and the largest number that each option takes."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("words", "bounds", "refused", "taken"),
    [
        (("log", "--limit"), "be 1 or more", "0", "1"),
        (("list", "--limit"), "be 0 or more", "-1", "0"),
        (("improve", "--limit"), "be 0 or more", "-1", "0"),
        (("stats", "--limit"), "be 0 or more", "-1", "0"),
        (("search", "x", "--limit"), "be 1 or more", "0", "1"),
        (("try", "a prompt", "--last"), "be 1 or more", "0", "1"),
        (("web", "--static=nowhere/at/all", "--port"), "be 0 to 65535", "65536", "65535"),
        (("web", "--static=nowhere/at/all", "--port"), "be 0 to 65535", "-1", "0"),
        (("merge-driver", "o", "a", "b"), "be 1 or more", "0", "1"),
        (("sync", "--watch", "--every"), "be 1 to 86400", "0.9", "1"),
        (("sync", "--watch", "--every"), "be 1 to 86400", "86401", "86400"),
    ],
)
def test_a_number_is_taken_up_to_its_bounds(project, onrecord, words, bounds, refused, taken):
    beyond, within = onrecord(*words, refused), onrecord(*words, taken)

    assert (beyond.code, f" must {bounds}, not {refused}\n" in beyond.err) == (2, True), beyond.err
    assert within.code == 1, within
