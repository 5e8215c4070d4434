"""What the README promises: its walk works as written, and its table names every setting there is."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from accounts.models import User
from assistant.learn.summarizing import maybe_summarize
from assistant.recall.query.api import QuerySerializer
from assistant.recall.turn import FORMATS
from assistant.serializers import TurnRequestSerializer
from conversations.models import Conversation
from memories.models import Memory
from tests import factories
from tests.language import messages_api

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def shell(script, **environment):
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.django_db(transaction=True)
def test_the_walk_from_message_to_fact_to_prompt(live_server):
    walk = re.search(r"<!-- walk:begin -->\n```sh\n(.*?)```\n<!-- walk:end -->", README, re.DOTALL)[1]
    # The key comes from the test's own database, the address from its server; all else runs as it is printed.
    lines = [line for line in walk.splitlines() if not line.startswith(("KEY=", "API="))]
    first, later = "\n".join(lines).split("# A moment later")
    scopes = re.search(r"^KEY=.* --scopes (\S+) ", walk, re.MULTILINE)[1].split(",")
    assert "admin" not in scopes
    maria = factories.UserFactory(username="maria")
    agent = factories.AgentFactory(owner=maria)
    key = factories.AgentKeyFactory(agent=agent, scopes=scopes).credential
    names = shell(first + '\necho; echo "$LEGACY $TALK"', KEY=key, API=f"{live_server.url}/api/v1").split()[-2:]
    assert maybe_summarize(Conversation.objects.get(pk=names[1]).pk) == 1
    post = next(line for line in lines if line.startswith("post()"))
    told = shell(f"{post}\n#{later}", KEY=key, API=f"{live_server.url}/api/v1", LEGACY=names[0], TALK=names[1])
    facts, turn = told.split('{"format"')
    assert "watchmaker" in facts
    assert "offline rules" in facts
    assert "never wore a watch" in facts
    assert "watchmaker" in turn.split('"messages"')[0]
    assert User.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_the_walk_through_memories(live_server):
    page = (ROOT / "docs" / "memories.md").read_text(encoding="utf-8")
    walk = re.search(r"<!-- walk:begin -->\n```sh\n(.*?)```\n<!-- walk:end -->", page, re.DOTALL)[1]
    maria = factories.UserFactory(username="maria")
    agent = factories.AgentFactory(owner=maria)
    key = factories.AgentKeyFactory(agent=agent, scopes=["read", "write", "admin"]).credential
    # What curl prints has no line end, so each answer gets one, and -f makes a refusal fail the walk.
    told = shell(walk.replace("curl -s ", "curl -sSf -w '\\n' "), KEY=key, API=f"{live_server.url}/api/v1")
    answers = [json.loads(line) for line in told.splitlines() if line]
    reworded, filed, detail, history, reverted, found, topics, *asked, context, document, place, changes, restored = (
        answers
    )
    assert reworded["previous"] == {"content": "Sarah works on the Platform team.", "version": 1}
    assert (filed["importance"], filed["version"]) == (4, 2)
    assert [version["number"] for version in detail["versions"]] == [1, 2]
    assert [change["event"] for change in history["results"]] == ["UPDATE", "UPDATE", "ADD"]
    assert (reverted["content"], reverted["version"]) == ("Sarah works on the Platform team.", 3)
    assert [memory["id"] for memory in found["results"]] == [detail["id"]]
    assert topics == {"topics": ["design", "work"]}
    assert [[result["id"] for result in answer["results"]] for answer in asked] == [[detail["id"]]] * 2
    assert "[Sarah] Sarah works on the Platform team." in context["text"]
    assert document["metadata"]["total_active_facts"] == 1
    assert (place["place_id"], changes["next_after"]) == ("office", 5)
    assert (restored["state"], restored["version"]) == ("active", 3)
    assert Memory.objects.get().user_id == maria.pk


@pytest.mark.django_db(transaction=True)
def test_the_walk_through_tools(live_server):
    page = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
    walk = re.search(r"<!-- walk:begin -->\n```sh\n(.*?)```\n<!-- walk:end -->", page, re.DOTALL)[1]
    maria = factories.UserFactory(username="maria")
    key = factories.AgentKeyFactory(agent=factories.AgentFactory(owner=maria)).credential
    told = shell(walk.replace("curl -s ", "curl -sSf -w '\\n' "), KEY=key, API=f"{live_server.url}/api/v1")
    listed, same, updated, bad, fact, place, whole, gone = [json.loads(line) for line in told.splitlines() if line]
    assert [tool["name"] for tool in listed["tools"]][:2] == ["add_to_memory", "update_memory"]
    assert listed["guidance"].count("update_memory") == 1
    sarah = updated["data"]["memory"]["id"]
    assert (same["ok"], same["data"]["code"]) == (False, "subject_exists")
    assert f'call update_memory with memory_id "{sarah}"' in same["content"]
    assert updated["data"]["previous"]["content"] == "Sarah works on the Platform team."
    assert [error["argument"] for error in bad["data"]["errors"]] == ["memory_id"]
    assert (fact["data"]["outcome"], place["data"]["outcome"]) == ("created", "kept")
    assert whole["data"]["metadata"]["total_active_facts"] == 2
    assert (gone["data"]["outcome"], Memory.objects.get(pk=sarah).state) == ("deactivated", "archived")
    assert Memory.objects.filter(user=maria).count() == 2


@pytest.mark.django_db(transaction=True)
def test_the_loop_of_an_agent(live_server):
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    loop = re.search(r"<!-- loop:begin -->\n```python\n(.*?)```\n<!-- loop:end -->", page, re.DOTALL)[1]
    service = factories.AgentFactory(service=True, issuer="backend")
    given = {
        "PATH": os.environ["PATH"],
        "KEEPSAKE_URL": live_server.url,
        "KEEPSAKE_KEY": factories.AgentKeyFactory(agent=service).credential,
        "PERSON": "42",
        "ANTHROPIC_API_KEY": messages_api.KEY,
        "MODEL": messages_api.MODEL,
    }
    sister = {"content": "Sarah is the user's sister.", "category": "person", "subject": "Sarah"}
    with messages_api.serving() as model:
        model.answers(
            messages_api.called(("toolu_1", "add_to_memory", sister)),
            messages_api.called(("toolu_2", "add_to_memory", {"content": "Sarah"})),
            messages_api.message("Sarah is your sister, then."),
            messages_api.message("Your sister."),
        )
        done = subprocess.run(
            [sys.executable, "-c", loop],
            input="Remember that Sarah is my sister.\nWho is Sarah?\n",
            env={**given, "ANTHROPIC_BASE_URL": model.url},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        asked = [request.body for request in model.requests]
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["Sarah is your sister, then.", "Your sister."]
    assert "add_to_memory" in [tool["name"] for tool in asked[0]["tools"]]
    assert asked[0]["system"][0]["text"].startswith("You are a helpful assistant.\n\nRemembering should be felt")
    results = [each["messages"][-1]["content"][0] for each in asked[1:3]]
    assert [(result["tool_use_id"], result["is_error"]) for result in results] == [
        ("toolu_1", False),
        ("toolu_2", True),
    ]
    assert "created: [person]" in asked[3]["system"][1]["text"]
    person = User.objects.get(identities__external_id="42")
    assert [memory.content for memory in Memory.objects.filter(user=person)] == ["Sarah is the user's sister."]
    conversation = Conversation.objects.get(user=person)
    assert [(each.role, each.content) for each in conversation.messages.order_by("index")] == [
        ("user", "Remember that Sarah is my sister."),
        ("assistant", "Sarah is your sister, then."),
        ("user", "Who is Sarah?"),
        ("assistant", "Your sister."),
    ]


def test_what_agents_are_told_of_limits_is_what_holds():
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    turn, query = TurnRequestSerializer().fields, QuerySerializer().fields
    for said in (
        f"| `budget_tokens` | {turn['budget_tokens'].default:,} |",
        f"from {turn['budget_tokens'].min_value} to {turn['budget_tokens'].max_value:,}",
        f"| `format` | `{turn['format'].default}` |",
        f"at most {turn['instructions'].max_length:,} characters",
        f"at most {turn['content'].max_length:,} characters",
        f"| `top_k` | {query['top_k'].default}, at most {query['top_k'].max_value} |",
        f"| `budget_tokens` | {query['budget_tokens'].default}, at most {query['budget_tokens'].max_value:,}:",
        f"needed, at most {query['query'].max_length:,} characters",
        f"| {settings.MESSAGE_MAX_CHARACTERS:,} characters; {settings.MESSAGES_PER_REQUEST} |",
        f"| {settings.REST_FRAMEWORK['DEFAULT_THROTTLE_RATES']['principal'].replace('1200/min', '1,200 a minute')} ",
        f"for {settings.IDEMPOTENCY_HOURS} hours",
        f"for {settings.UPDATES_STREAM_SECONDS}",
    ):
        assert said.lower() in page.lower().replace("\n", " "), said
    assert set(turn) == set(
        re.findall(r"^\| `(\w+)` \|", page.split("## A turn")[1].split("The response")[0], re.MULTILINE)
    )
    for name in FORMATS:
        assert f"| `{name}` |" in page, name


def test_every_setting_is_documented_and_every_documented_one_is_read():
    code = "\n".join(
        path.read_text(encoding="utf-8") for path in [*ROOT.glob("memory_project/**/*.py"), ROOT / "manage.py"]
    )
    read = set(re.findall(r"""env(?:\.\w+)?\(\s*["']([A-Z_]+)["']""", code))
    read |= set(re.findall(r"""os\.environ\.get\(["']([A-Z_]+)["']""", code))
    read |= set(re.findall(r"""given\.get\(["']([A-Z_]+)["']""", code))
    table = set(re.findall(r"^\| `([A-Z_]+)` \|", README, re.MULTILINE))
    assert read - {"PATH"} == table


def test_the_licence_is_named_by_its_spdx_expression():
    assert "SPDX-License-Identifier: Apache-2.0" in README
    assert 'license = "Apache-2.0"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
