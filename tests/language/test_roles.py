"""A model in each of its roles is called as the settings say: by which name, with which effort and most tokens."""

import pytest
from asgiref.sync import async_to_sync

from language.backends import get_model, get_reply_model
from language.base import LanguageError, Passage, ReplyRequest
from tests.language.messages_api import KEY, MODEL, OTHER_MODEL, message, spoken
from tests.language.offline_talk import conversation


@pytest.fixture(autouse=True)
def _deployment(settings, server):
    settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL = KEY, server.url
    settings.KEEPSAKE_MODEL_RETRIES = 0
    settings.KEEPSAKE_MODEL = MODEL
    settings.KEEPSAKE_MODEL_EFFORT, settings.KEEPSAKE_MODEL_TOKENS = "high", 5_000
    settings.KEEPSAKE_JUDGE_MODEL = settings.KEEPSAKE_REPLY_MODEL = OTHER_MODEL
    settings.KEEPSAKE_JUDGE_EFFORT, settings.KEEPSAKE_JUDGE_TOKENS = "low", 700


def replied():
    async def talk():
        talking = ReplyRequest([], [{"role": "user", "content": "Hi."}], most_tokens=300)
        return [part async for part in get_reply_model().reply(talking)]

    return async_to_sync(talk)()


CALLS = {
    "extract": lambda: get_model().extract(conversation("I keep hens.")),
    "same_fact": lambda: get_model().same_fact([("He kept hens.", "He had hens.")]),
    "select": lambda: get_model().select("Hens?", [Passage("0", "He kept hens.")], 1),
}


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("extract", (MODEL, "high", 5_000)),
        ("same_fact", (OTHER_MODEL, "low", 700)),
        ("select", (OTHER_MODEL, "low", 700)),
    ],
)
def test_a_call_goes_by_its_role_and_asks_for_its_form(server, call, expected):
    server.answers(message({}))
    with pytest.raises(LanguageError):  # What is answered is not what this is about.
        CALLS[call]()
    body = server.requests[0].body
    assert (body["model"], body["output_config"]["effort"], body["max_tokens"]) == expected
    assert body["output_config"]["format"]["type"] == "json_schema"


@pytest.mark.parametrize("effort", ["", "medium"])
def test_a_reply_goes_by_its_own(server, settings, effort):
    settings.KEEPSAKE_REPLY_EFFORT = effort
    server.answers(spoken("Hello."))
    assert replied()[0] == "Hello."
    body = server.requests[0].body
    assert (body["model"], body["max_tokens"]) == (OTHER_MODEL, 300)
    assert body.get("output_config") == ({"effort": effort} if effort else None)
