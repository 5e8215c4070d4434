"""What happens to messages, facts and batches when the embedder's server fails: all is kept, and indexed later."""

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person
from assistant.learn.summarizing import conversation_finish, maybe_summarize
from assistant.recall.search import QueryVector, find_facts, find_turns
from conversations.actions import messages_index
from conversations.models import ConversationChunk, Message
from conversations.searching import Recallable
from facts.actions import facts_index
from facts.models import LegacyFact
from facts.searching import FactSelection
from journal.models import JobRun
from tests import factories
from tests.language import scripted
from tests.language.embeddings_api import BROKEN, KEY, embedded, error, serving

from .conftest import say

pytestmark = pytest.mark.slow

NAME = "openai:text-embedding-3-small:256"
FAILURES = {
    "wrong key": (error(401), "EmbedderKeyRefused"),
    "too many calls": (error(429, retry_after="3600"), "EmbedderRateLimited"),
    "server error": (error(500), "EmbedderServerError"),
    "overloaded": (error(529), "EmbedderOverloaded"),
    "refused": (error(400), "EmbedderCallRejected"),
    "no answer": (scripted.silent, "EmbedderTimedOut"),
    "dripping": (scripted.drip, "EmbedderTimedOut"),
    "endless": (scripted.endless, "EmbedderAnswerInvalid"),
    "cut off": (scripted.cut, "EmbedderUnreachable"),
    **{
        case: (BROKEN[case], "EmbedderAnswerInvalid")
        for case in ("no JSON", "too few vectors", "too short", "not a number", "not a number in JSON", "zeros")
    },
}


@pytest.fixture(scope="module")
def running():
    with serving() as api:
        yield api


@pytest.fixture
def server(running, settings):
    running.reset()
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = running.base_url, KEY
    settings.KEEPSAKE_EMBEDDER, settings.KEEPSAKE_EMBEDDER_RETRIES = NAME, 0
    return running


def wait_for_answers(settings, seconds):
    settings.KEEPSAKE_EMBEDDER_TIMEOUT_SECONDS = settings.KEEPSAKE_EMBEDDER_QUERY_TIMEOUT_SECONDS = seconds


def due():
    """Let everything that waits for another try be tried now."""
    now = timezone.now()
    Message.objects.update(index_not_before=now)
    LegacyFact.objects.filter(index_not_before__isnull=False).update(index_not_before=now)
    JobRun.objects.update(not_before=now)


@pytest.mark.parametrize("case", FAILURES)
def test_nothing_is_lost_and_it_is_indexed_when_the_server_is_back(
    owner, legacy, talk, model, server, settings, caplog, case
):
    failure, code = FAILURES[case]
    server.answers(failure)
    # Other answers come at once, but not within half a second of a machine that has much else to do.
    wait_for_answers(settings, 0.5 if code == "EmbedderTimedOut" else 30)
    person = principal_for_person(owner.pk)
    conversation = talk(owner, legacy)
    say(owner, conversation, "Rosa kept bees.", "How many hives?")
    fact = factories.LegacyFactFactory(legacy=legacy, content="Rosa kept nine hives of bees.")
    conversation_finish(person, conversation.pk)

    assert (messages_index(), facts_index(), maybe_summarize(conversation.pk)) == (0, 0, 0)
    assert set(Message.objects.values_list("embedding_model", flat=True)) == {""}
    assert not Message.objects.unindexed(timezone.now()).exists(), "it waits before it is tried again"
    assert not ConversationChunk.objects.exists()
    job = JobRun.objects.get(kind="summarize")
    assert (job.state, job.error_code) == ("waiting", code)
    query = QueryVector("bees")
    assert [each.row.content for each in find_turns(person, query, wanted=Recallable(legacy.pk), top_k=5)] == [
        "Rosa kept bees."
    ]
    assert [each.row.pk for each in find_facts(person, query, wanted=FactSelection(legacy.pk), top_k=5)] == [fact.pk]
    assert KEY not in caplog.text
    assert "hives" not in caplog.text

    server.answers(embedded)
    wait_for_answers(settings, 30)
    due()
    assert (messages_index(), facts_index(), maybe_summarize(conversation.pk)) == (2, 1, 1)
    for table in (Message, LegacyFact, ConversationChunk):
        assert set(table.objects.values_list("embedding_model", flat=True)) == {NAME}
