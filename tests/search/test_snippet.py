import os

from onrecord.search import document, index
from tests import searching
from tests.records import decision, put


def test_the_best_passage_with_the_asked_words_marked(tmp_path):
    root = str(tmp_path / "memory")
    filler = "Nothing of interest is said here. " * 20
    put(root, decision("keys", "Keys", filler + "The signing key is rotated monthly, see key-rotation. " + filler))
    (match,) = searching.find(index.in_memory(root), "rotate the signing key")

    text = match.snippet(("<", ">"))

    assert "<signing> <key> is <rotated> monthly, see <key-rotation.>" in text
    assert text.startswith("… ")
    assert text.endswith(" …")


def test_the_essence_serves_when_the_words_are_in_the_title_only_or_the_file_is_gone(tmp_path):
    root = str(tmp_path / "memory")
    put(root, decision("keys", "Rotation of keys", "On the first of the month"))
    (match,) = searching.find(index.in_memory(root), "rotation")

    assert match.snippet() == match.summary_line
    os.unlink(os.path.join(root, match.path))
    assert match.snippet() == match.summary_line


def test_best_of_nothing():
    assert document.best_passage([], frozenset({"x"})) == ""
