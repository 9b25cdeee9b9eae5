import shutil

import pytest

np = pytest.importorskip("numpy")

from bench import coefficients_file, data, examples, fit, life_sets, metrics  # noqa: E402
from bench.__main__ import main  # noqa: E402
from bench.coefficients_file import Thresholds  # noqa: E402
from bench.learn import Part  # noqa: E402
from bench.metrics import Judged  # noqa: E402
from bench.stage import Stage  # noqa: E402
from onrecord.search import coefficients  # noqa: E402
from tests import searching  # noqa: E402


def judged(*pairs):
    return Judged(np.array([p for p, _ in pairs]), np.array([truth for _, truth in pairs], dtype=bool))


def test_ndcg():
    assert metrics.ndcg([True, False], 1) == 1
    assert metrics.ndcg([False, True], 1) == pytest.approx(0.6309, abs=1e-4)
    assert metrics.ndcg([], 1) == 0


def test_auc_counts_ties_half():
    assert metrics.auc(np.array([2.0, 3.0]), np.array([1.0])) == 1
    assert metrics.auc(np.array([1.0]), np.array([1.0])) == 0.5


def test_calibration_of_a_liar_and_of_an_honest_one():
    assert metrics.calibration([judged((0.95, False))]) == pytest.approx(0.95)
    assert metrics.calibration([judged((0.5, True)), judged((0.5, False))]) == pytest.approx(0)


def test_an_answer_is_taken_away_and_comes_back():
    own = data.load("harbor")
    prompt = next(one for one in own.answerable if one.kind == "identifier")
    with Stage(own.records) as stage:

        def found():
            return {match.id for match in searching.find(stage.index, prompt.text, limit=40)}

        before = found()
        with stage.without(prompt.relevant):
            without = found()

        assert prompt.relevant <= before
        assert not prompt.relevant & without
        assert found() == before


def test_our_sets_are_as_large_as_promised():
    sets = [data.load(name) for name in data.OWN_NAMES]

    assert sum(len(one.records) for one in sets) >= 150
    assert sum(len(one.prompts) for one in sets) >= 250
    assert sum(len(one.unanswerable) for one in sets) >= 80
    for one in sets:
        ids = {record.id for record in one.records}
        assert all(prompt.relevant <= ids for prompt in one.prompts)


def test_the_same_examples_make_the_same_coefficients_twice(tmp_path, monkeypatch):
    own = data.load("lumen")
    some = own._replace(prompts=own.prompts[:30])
    files = []
    for name in ("first", "second"):
        monkeypatch.setattr(life_sets, "CACHE", tmp_path / name)
        models = fit.fit_both([Part(examples.gather(some))])
        files.append(tmp_path / f"{name}.py")
        shutil.copy(coefficients_file.FILE, files[-1])
        lines = coefficients_file.prompt_lines(Thresholds(0.7, 0.3, 0.5, 0.3), models)
        coefficients_file.write(coefficients_file.PROMPTS, lines, ["lumen"], files[-1])
        # What was learnt before must not matter for what is learnt now.
        written = {}
        exec(files[-1].read_text(encoding="utf-8"), written)
        monkeypatch.setattr(coefficients, "WITH_MEANING", written["WITH_MEANING"])

    assert files[0].read_text(encoding="utf-8") == files[1].read_text(encoding="utf-8")
    assert tuple(written["WITH_MEANING"]) == tuple(coefficients.WITH_MEANING)


def test_each_part_of_the_coefficients_is_written_alone(tmp_path):
    file = tmp_path / "coefficients.py"
    names = [name for name in vars(coefficients) if name.isupper()]
    for part in (
        coefficients_file.PROMPTS,
        coefficients_file.SEARCHES,
        coefficients_file.PAST,
        coefficients_file.COMMANDS,
    ):
        shutil.copy(coefficients_file.FILE, file)
        coefficients_file.write(part, ["NEW = 1"], ["one", "two"], file)
        written = {}
        exec(file.read_text(encoding="utf-8"), written)
        kept = [name for name in names if name in written]

        assert written["NEW"] == 1
        assert 0 < len(kept) < len(names)
        assert [written[name] for name in kept] == [getattr(coefficients, name) for name in kept]
        text = file.read_text(encoding="utf-8")
        assert f"# {part}\n# Fitted on one, two.\nNEW = 1\n" in text


def test_fit_says_which_sets_are_not_there(tmp_path, capsys):
    assert main(["fit", "--data", str(tmp_path)]) == 1

    assert f"cannot fit without: {tmp_path / 'life-bitwarden'}, " in capsys.readouterr().err
