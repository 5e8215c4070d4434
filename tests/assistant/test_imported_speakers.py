"""A speaker's name in a file does not bring back what the person rejected."""

import io
import json

import pytest

from accounts.queries import principal_for_person
from assistant.imports.loading import append_step, plan_step
from conversations.imports.jsonl import read_jsonl
from conversations.imports.sources import members_of
from conversations.models import Message
from memories import actions
from memories.records import NewMemory

pytestmark = pytest.mark.django_db

REJECTED = "The user crashed the company van in Augsburg."
REPEATED = "crashed the company van in Augsburg"


def parsed(*speakers):
    """A conversation with a message by each speaker."""
    lines = [
        json.dumps({"conversation": "c1", "role": "user", "speaker": speaker, "content": f"Hello {number}"})
        for number, speaker in enumerate(speakers)
    ]
    (conversation,) = read_jsonl(members_of(io.BytesIO("\n".join(lines).encode()), "file"))
    return conversation


def bring_in(person, conversation):
    """The step that was planned, and the speakers as they are stored."""
    principal = principal_for_person(person.pk)
    step = plan_step(principal, conversation, channel="jsonl", legacy_id=None)
    list(append_step(principal, step, channel="jsonl", legacy_id=None))
    return step, list(Message.objects.order_by("index").values_list("speaker", flat=True))


@pytest.mark.parametrize("repeated", [REPEATED, "crashed-the-company-van-in-Augsburg", "van crashed Augsburg company"])
def test_a_speaker_that_repeats_what_was_rejected_is_left_out(owner, me, repeated):
    actions.memory_reject(me, actions.memory_add(me, NewMemory(REJECTED, "context")).memory.pk)
    names = ["Ida", repeated, "Bruno from the garden club"]
    assert bring_in(owner, parsed(*names))[1] == ["Ida", "", "Bruno from the garden club"]
    step, stored = bring_in(owner, parsed(*names, repeated))  # It is still the same conversation.
    assert (step.objection, step.missing) == ("", 1)
    assert stored == ["Ida", "", "Bruno from the garden club", ""]


def test_what_was_rejected_after_an_import_does_not_end_it(owner, me):
    assert bring_in(owner, parsed("Ida", REPEATED))[1] == ["Ida", REPEATED]
    actions.memory_reject(me, actions.memory_add(me, NewMemory(REJECTED, "context")).memory.pk)
    step, stored = bring_in(owner, parsed("Ida", REPEATED, REPEATED))
    assert (step.objection, stored) == ("", ["Ida", REPEATED, ""])
