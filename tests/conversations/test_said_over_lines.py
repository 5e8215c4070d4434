"""A withheld sentence that comes again over several lines is withheld from the first line to the last."""

import pytest

from accounts.queries import principal_for_person
from conversations.actions import NewMessage, PassagePlace, messages_append, passages_withhold
from conversations.passages import MARK, Span, passages_saying
from tests import factories

pytestmark = pytest.mark.django_db
KARL = "My brother Karl lent me nine thousand euros in March and I cannot pay him back."
LINES = ("My brother Karl lent me nine", "thousand euros in March and I", "cannot pay him back.")
ILL = "I have type 2 diabetes and I take metformin."


def over(beginning, between="\n"):
    return between.join(f"{beginning}{line}" for line in LINES)


@pytest.fixture
def post(api, owner, agent):
    """Let an agent post a message, after both sentences were withheld; returns what is stored."""
    me, talk = principal_for_person(owner.pk), factories.ConversationFactory(user=owner)
    messages_append(me, talk.pk, [NewMessage("user", KARL), NewMessage("user", ILL)])
    passages_withhold(me, [PassagePlace(talk.pk, 0, KARL), PassagePlace(talk.pk, 1, ILL)])
    elsewhere = factories.ConversationFactory(user=owner, agent=agent)

    def message(content):
        body = {"messages": [{"role": "user", "content": content}]}
        answer = api(agent).post(f"/api/v1/conversations/{elsewhere.pk}/messages/", body, format="json")
        assert answer.status_code == 201, answer.content
        return elsewhere.messages.order_by("-index")[0].content

    return message


@pytest.mark.parametrize(
    "content",
    [
        over(""),
        over("> "),
        over("| "),
        over("## "),
        over("- "),
        over("1. "),
        over("me: "),
        over("> me: "),
        over("", "\n\n"),
        f"```\n{over('')}\n```",
        "\n".join(f"> {word}" for word in KARL.split()),
    ],
)
def test_all_lines_of_it_are_withheld(post, content):
    shown = post(f"It rains.\n{content}\nBye now.")
    assert (shown.startswith("It rains."), shown.endswith("Bye now."), MARK in shown) == (True, True, True)
    assert not any(word in shown for word in ("Karl", "nine", "thousand", "March", "cannot"))


def test_also_where_a_line_says_a_part_of_it_alone(post):
    assert post("i HAVE type 2 diabetes\nand I take\nmetformin.") == MARK


@pytest.mark.parametrize(
    "content",
    ["My brother Karl lent me\na book in March and I\ncannot find it.", "- nine\n- thousand\n- euros\n- March"],
)
def test_other_lines_stay(post, content):
    assert post(content) == content


def test_the_span_reaches_from_the_first_line_to_the_last():
    assert set(passages_saying("a b\nc d.\ne", [" x y ", " b c d "])) == {(1, Span(0, 8))}
