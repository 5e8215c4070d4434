"""Characters that are not shown hide no words: what a person rejected is refused with them, too."""

import pytest

from memories.actions import memory_reject
from memories.policy.fields import field_of
from retrieval.text import list_words
from statements import policy
from tests.facts.conftest import facts_url
from tests.memories.rest import URL, refusal
from tests.memories.rows import remember

pytestmark = pytest.mark.django_db
USER = "The user plays the cello."
# Zero-width spaces and joiners, soft hyphens, selectors, invisible operators, fillers, a combining joiner.
LOOK_ALIKE = "\u0441"  # The Cyrillic letter es.
HIDDEN = ["\u200b", "\u2060", "\xad", "\u200c", "\u200d", "\ufe0f", "\ufeff", "\u2061", "\u180e", "\u034f", "\u115f"]


def split_by(character, text=USER):
    return text.replace("cello", f"{character}ello" if character == LOOK_ALIKE else f"c{character}ello")


@pytest.fixture
def rejected(owner, me):
    (memory,) = remember(owner, USER)
    memory_reject(me, memory.pk, "dont_keep")


@pytest.mark.parametrize("character", [*HIDDEN, LOOK_ALIKE])
def test_no_character_that_is_not_shown_or_looks_alike_hides_a_rejected_word(api, agent, legacy, rejected, character):
    client, said = api(agent), split_by(character)
    bread = {"content": "The user bakes bread.", "category": "context"}
    sent = [
        (URL, {"content": said, "category": "context"}),
        (facts_url(legacy), {"content": said, "category": "hobby"}),
        (URL, {**bread, "subject": said}),
        (URL, {**bread, "metadata": {"of": said}}),
        ("/api/v1/legacies/", {"name": said}),
        ("/api/v1/places/", {"place_id": "a", "name": "Hall", "notes": said}),
        ("/api/v1/conversations/", {"title": said}),
    ]
    for path, body in sent:
        assert refusal(client.post(path, body, format="json")) == (422, "rejected_before"), (path, body)


@pytest.mark.parametrize("character", HIDDEN)
def test_words_are_read_as_they_are_shown(owner, character):
    assert policy.fingerprint(owner.pk, split_by(character)) == policy.fingerprint(owner.pk, USER)
    assert list_words(split_by(character)) == list_words(USER)
    assert field_of(f"The user li{character}ves in Oslo.") == "city"


def test_what_an_earlier_release_parted_at_such_a_character_is_found(owner):
    parted, joined = (policy.fingerprint(owner.pk, text) for text in ("mi khahad", "mikhahad"))
    assert policy.fingerprints(owner.pk, "mi\u200ckhahad") == [joined, parted]
    assert policy.fingerprints(owner.pk, "mi khahad") == [parted]
