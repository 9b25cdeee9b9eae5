"""The translated questions are of prompts that exist, and each language has enough of them."""

from __future__ import annotations

from collections import Counter

import pytest

from bench import languages, life_sets

LANGUAGES = {"de", "es", "fr", "it", "ja", "ko", "pt", "ru", "zh"}


@pytest.mark.parametrize(("use", "projects"), [("report", life_sets.REPORT), ("choose", life_sets.CHOOSE)])
def test_translations_are_of_prompts_of_the_right_projects(use, projects):
    translations = languages.translations(use)
    prompts = {name: {prompt.id: prompt for prompt in life_sets.load(name).prompts} for name in projects}

    assert {each.language for each in translations} == LANGUAGES
    assert {each.project for each in translations} == set(projects)
    assert all(each.id in prompts[each.project] for each in translations)
    questions = Counter(each.language for each in translations if prompts[each.project][each.id].relevant)
    assert min(questions.values()) >= 5


def test_shares_have_intervals_around_them():
    right = languages.Asked("fr", "a", False, True, True, False, 0, 0, 1)
    wrong = right._replace(in_first_three=False, is_shown=False, pointers=0)
    idle = right._replace(is_idle=True, in_first_three=False, is_shown=False, rules=1)

    figures = languages.summary([right, right, right, wrong, idle])

    share, low, high = figures["in_first_three"]
    assert low <= share == 0.75 <= high
    assert (figures["questions"], figures["idle"], figures["idle_with_rule"][0]) == (4, 1, 1.0)
