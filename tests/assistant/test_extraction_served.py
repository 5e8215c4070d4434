"""Extraction with the real SDK: the model's server is asked for tools, told what came of them, and may fail."""

import logging

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person
from assistant.learn import actions as extraction
from assistant.learn import summarizing as actions
from conversations.models import ConversationChunk
from journal.models import JobRun
from memories import actions as memories
from memories.models import Memory
from memories.records import NewMemory
from tests.language import scripted
from tests.language.messages_api import KEY, MODEL, called, error, message
from tests.memories.state import check

from .conftest import say
from .extracting import TEA, add, contents, delete, update

pytestmark = pytest.mark.django_db

NOTHING = {"summary": "They spoke of tea.", "facts": [], "memories": [], "episodes": []}
DONE = message("done")
FAILURES = {
    "overloaded": (error(529, "overloaded_error"), "ModelOverloaded"),
    "limited": (error(429, "rate_limit_error"), "ModelRateLimited"),
    "cut connection": (scripted.cut, "ModelUnreachable"),
    "no answer": (scripted.hang_up, "ModelUnreachable"),
    "a web page": (scripted.whole(b"<html>", content_type="text/html"), "ModelAnswerInvalid"),
    "refusal": (message("no", stop_reason="refusal"), "ModelAnswerRefused"),
}


@pytest.fixture(autouse=True)
def _model_behind_the_api(settings, server):
    settings.KEEPSAKE_EMBEDDER = "hashing"
    settings.KEEPSAKE_MODEL = MODEL
    settings.ANTHROPIC_API_KEY = KEY
    settings.ANTHROPIC_BASE_URL = server.url
    settings.KEEPSAKE_MODEL_TIMEOUT_SECONDS = 20
    settings.KEEPSAKE_MODEL_RETRIES = 0


@pytest.fixture
def conversation(owner, talk):
    conversation = talk(owner)
    say(owner, conversation, TEA, "I like coffee.")
    actions.conversation_finish(principal_for_person(owner.pk), conversation.pk)
    return conversation


def calls(*wanted):
    return called(*((f"toolu_{place}", name, given) for place, (name, given) in enumerate(wanted)))


def results(request):
    """What the last round of a request tells: (whether it is an error, text) of each result."""
    blocks = request.body["messages"][-1]["content"]
    return [(bool(block.get("is_error")), str(block["content"])) for block in blocks if block["type"] == "tool_result"]


def test_a_call_that_is_not_taken_is_mended_in_the_next_round(server, owner, conversation):
    bad = [
        ("forget_everything", {}),
        ("add_to_memory", {"category": "preference", "evidence": {"index": "first", "quote": "tea"}}),
        add(category="beverages"),
        add(index=1, quote="I like coffee"),
        add(quote="I adore oolong tea"),
        update("Nowhere1", "The user drinks no tea."),
    ]
    server.answers(message(NOTHING), calls(*bad), calls(add()), DONE)
    assert actions.maybe_summarize(conversation.pk) == 1
    assert contents() == ["The user drinks green tea."]
    extract, first, second, third = server.requests
    assert "output_config" in extract.body
    assert {tool["name"] for tool in first.body["tools"]} == {
        "add_to_memory",
        "update_memory",
        "delete_memory",
        "doubt_memory",
    }
    told = results(second)
    assert [is_error for is_error, _ in told] == [True] * 6
    for (_, text), expected in zip(
        told,
        [
            "There is no tool of that name; there are add_to_memory, update_memory, delete_memory, doubt_memory",
            "content: Field required; evidence.index: ",
            "There is no category beverages",
            "Message 1 is not the user's",
            "The quote is not in message 0",
            "no memory with that id",
        ],
        strict=True,
    ):
        assert expected in text
    assert results(third) == [(False, "Taken. Don't repeat it.")]
    check(owner)


def test_rounds_are_bounded(server, settings, conversation):
    settings.EXTRACTION_ROUNDS = 2
    server.answers(message(NOTHING), calls(add(quote="oolong")))
    assert actions.maybe_summarize(conversation.pk) == 1
    assert len(server.requests) == 1 + 2
    assert contents() == []


def test_what_is_known_is_updated_and_deleted_by_its_id(server, owner, conversation):
    me = principal_for_person(owner.pk)
    black = memories.memory_add(me, NewMemory("The user drinks black tea.", "preference")).memory
    cats = memories.memory_add(me, NewMemory("The user has cats.", "preference")).memory
    wanted = [update(f"[id:{black.pk}]", "The user drinks green tea."), delete(cats)]
    server.answers(message(NOTHING), calls(*wanted), DONE)
    actions.maybe_summarize(conversation.pk)
    assert contents() == ["The user drinks green tea."]
    assert [f'id="{memory.pk}"' in server.requests[1].raw.decode().replace("\\", "") for memory in (black, cats)] == [
        True,
        True,
    ]
    check(owner)


@pytest.mark.parametrize("case", FAILURES)
@pytest.mark.parametrize("after", [0, 1])
def test_a_failure_in_any_round_leaves_the_batch(server, conversation, case, after):
    failure, code = FAILURES[case]
    server.answers(message(NOTHING), *[calls(add())] * after, failure)
    assert actions.maybe_summarize(conversation.pk) == 0
    assert not ConversationChunk.objects.exists()
    assert not Memory.objects.exists()
    job = JobRun.objects.get()
    assert (job.state, job.error_code) == ("waiting", code)

    server.answers(message(NOTHING), calls(add()), DONE)
    JobRun.objects.update(not_before=timezone.now())
    assert actions.maybe_summarize(conversation.pk) == 1
    assert contents() == ["The user drinks green tea."]


def test_tokens_of_all_rounds_are_told(server, conversation, caplog):
    caplog.set_level(logging.INFO)
    usage = {"input_tokens": 1_000, "output_tokens": 10}
    server.answers(
        message(NOTHING, usage=usage),
        called(("toolu_1", *add()), usage=usage),
        message("done", usage=usage),
    )
    actions.maybe_summarize(conversation.pk)
    events = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
    (batch,) = [event for event in events if event["event"] == "batch_summarized"]
    assert (batch["input_tokens"], batch["output_tokens"]) == (3_000, 30)
    assert "green tea" not in caplog.text


def test_a_message_by_itself(server, owner, talk):
    conversation = talk(owner, channel="assistant")
    say(owner, conversation, TEA)
    server.answers(calls(add()), DONE)
    assert extraction.extract_messages(conversation.pk) == 1
    assert contents() == ["The user drinks green tea."]
    server.answers(error(529, "overloaded_error"))
    say(owner, conversation, "And coffee.")
    assert extraction.extract_messages(conversation.pk) == 0
    assert JobRun.objects.get(state="waiting").error_code == "ModelOverloaded"
    check(owner)
