"""What somebody says to correct what is remembered takes its place when it is extracted; with the bundled embedder."""

import pytest

from accounts.actions import preferences_set
from accounts.queries import principal_for_person
from assistant.learn import actions as extraction
from assistant.learn import summarizing
from memories.actions import memory_add
from memories.models import Memory, Relation
from memories.records import NewMemory
from tests import factories
from tests.memories.state import check

from .conftest import say
from .extracting import add, contents

pytestmark = pytest.mark.django_db

CORRECTIONS = {
    "moved_team": (
        "Sarah works on the Platform team.",
        "Sarah moved to the Design team last week.",
        "Sarah moved to the Design team last week",
    ),
    "not_rex": (
        "The user's dog is called Rex.",
        "The user's dog is called Max.",
        "Actually, my dog is called Max, not Rex",
    ),
    "divorced": ("The user is married to Tom.", "The user got divorced from Tom.", "I got divorced from Tom"),
    "no_longer_at": (
        "The user works at the Charité.",
        "The user works as a teacher.",
        "I no longer work at the Charité, I work as a teacher",
    ),
    "due_now": (
        "The plans are due on 14 March.",
        "The plans are due on 28 March.",
        "plans are due on 28 March now, they changed it, so forget the 14th",
    ),
}


@pytest.fixture(autouse=True)
def _bundled(settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"


@pytest.fixture
def stored(agent):
    """``stored(content)``: an agent remembers something by its tool."""

    def store(content):
        return memory_add(factories.agent_principal(agent), NewMemory(content, "context")).memory

    return store


@pytest.fixture(params=["after_message", "batch"])
def hear(request, owner, talk):
    """``hear(*contents)``: messages are saved and read by themselves, or with the summary."""

    def run(*said):
        preferences_set(principal_for_person(owner.pk), extract_each_message=request.param == "after_message")
        conversation = talk(owner)
        say(owner, conversation, *said)
        if request.param == "after_message":
            extraction.extract_messages(conversation.pk)
        summarizing.conversation_finish(principal_for_person(owner.pk), conversation.pk)
        summarizing.maybe_summarize(conversation.pk)
        check(owner)

    return run


@pytest.mark.parametrize(("old", "new", "said"), CORRECTIONS.values(), ids=CORRECTIONS)
def test_one_memory_is_active_after_a_correction_by_extraction(hear, model, stored, old, new, said):
    stored(old)
    model.calls([add(new, "context", quote=said[-20:])])
    hear(said)
    assert contents() == [new]
    assert (Relation.objects.get(type="supersedes").to_memory.content, contents("archived")) == (old, [old])
    assert model.asked == []


def test_what_the_agent_stored_by_a_tool_and_extraction_meets_again_is_one(hear, model, stored):
    old, new, said = CORRECTIONS["moved_team"]
    stored(old)
    stored(new)
    model.calls([add("Sarah moved to the Design team in the last week.", "context", quote=said)])
    model.verdicts[(new, "Sarah moved to the Design team in the last week.")] = "same"
    hear(said)
    assert Memory.objects.filter(state="active").count() == 1
    assert contents("archived") == [old]


def test_the_model_judges_where_the_grammar_is_unsure(hear, model, stored):
    pair = "The user hates coriander.", "The user finds coriander delicious."
    stored(pair[0])
    model.calls([add(pair[1], "context", quote="coriander delicious")])
    model.verdicts[pair] = "replaces"
    hear("I find coriander delicious")
    assert (model.asked, contents()) == ([[pair]], [pair[1]])


@pytest.mark.parametrize(
    ("first", "then", "left"),
    [
        ("I work as a nurse.", "Actually, I work as a midwife now.", "midwife"),
        ("My sister Sarah works at Acme.", "My sister Sarah works at Initech now.", "Initech"),
        ("I am allergic to penicillin.", "I am not allergic to penicillin.", "not allergic"),
    ],
)
def test_one_memory_is_active_after_a_correction_without_a_model(hear, settings, first, then, left):
    settings.KEEPSAKE_MODEL = "offline"
    hear(first)
    hear(then)
    (content,) = contents(kind="semantic")
    assert left in content
