"""``manage.py evaluate writing``: how many of a model's items have the right form at first."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from benchmarks.evaluation.reading import talks_of
from benchmarks.evaluation.writing import written_by
from language.base import Extraction, MemoryCandidate
from language.offline.model import OfflineModel

READING = Path(__file__).parents[1] / "language/reading"
TALK = "# legacy: -; user: Sam\nU: I live in Bern.\nA: Nice.\n"


class Model:
    name, offline = "scripted", False

    def extract(self, request):
        said = ["The user lives in Bern.", "He likes it.", "Is the user happy?", "The user has a dog."]
        found = tuple(MemoryCandidate("context", content, (0,), "I live") for content in said)
        return Extraction("A talk.", self.name, memories=found)


def test_items_that_pass_format_checks_on_first_pass_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("assistant.management.commands.evaluate.get_model", Model)
    (tmp_path / "a.txt").write_text(TALK)
    out = StringIO()
    call_command("evaluate", "writing", tmp_path, "--why", stdout=out)
    assert "2 of 4 items (50%) of scripted pass at first." in out.getvalue()
    assert "He likes it.  (The text begins with a pronoun" in out.getvalue()


def test_a_folder_without_conversations_is_an_error(tmp_path):
    with pytest.raises(CommandError):
        call_command("evaluate", "writing", tmp_path)


@pytest.mark.corpus
@pytest.mark.parametrize("folder", ["unseen", "held_out"])
def test_at_least_95_percent_of_new_items_pass_format_checks_on_first_pass(folder):
    """003, 9, of the rules that are there without a model; ``evaluate writing`` tells it of a model."""
    written = written_by(OfflineModel(), talks_of(READING / folder))
    assert written.items >= 20
    assert written.passed >= 0.95 * written.items, written.refused
