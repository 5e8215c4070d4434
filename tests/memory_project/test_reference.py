"""The documentation's pages: every operation of the schema, each with a command that calls it."""

import re
import shlex

import pytest

from memory_project.reference import kind_of, operations, prose

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client):
    """A function that gets a page of the documentation as text."""

    def get(path=""):
        answer = client.get(f"/api/docs/{path}")
        return answer.status_code, answer.content.decode()

    return get


def test_every_operation_has_a_page_that_its_list_leads_to(page):
    listed = set(re.findall(r'href="/api/docs/(\w+)/"', page()[1]))
    assert listed == set(operations())
    for name in listed:
        status, text = page(f"{name}/")
        assert status == 200
        assert operations()[name].path in text


def test_it_needs_no_other_server_and_no_sign_in(page):
    status, text = page("memories_create/")
    assert status == 200
    assert not re.search(r'(src|href)="(https?:)?//', text)


def test_a_search_finds_operations_by_all_their_words(page):
    text = page("?search=Prepare+TURN")[1]
    assert "/api/docs/conversations_turn_create/" in text
    assert "/api/docs/memories_create/" not in text
    assert "No operation says that." in page("?search=%3Cb%3Ezebra")[1]
    assert "<b>zebra" not in page("?search=%3Cb%3Ezebra")[1]


def test_what_is_no_operation_is_not_there(page):
    assert page("nothing/")[0] == 404


@pytest.mark.parametrize("name", ["memories_create", "conversations_turn_create", "import_create", "memories_list"])
def test_the_command_is_one_that_a_shell_reads(name):
    operation = operations()[name]
    words = shlex.split(operation.curl("https://keepsake.example").replace("\\\n", " "))
    assert words[0] == "curl"
    assert any(word.startswith("https://keepsake.example/api/v1/") for word in words)
    assert "Authorization: Bearer $KEY" in words
    assert ("-X" in words) == (operation.method != "GET")


def test_a_page_names_parameters_bodies_and_all_shapes_inside(page):
    text = page("conversations_turn_create/")[1]
    for said in ("conversation_id", "Idempotency-Key", "TurnRequestRequest", "Why a request failed", "429"):
        assert said in text


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"$ref": "#/components/schemas/Memory"}, "Memory"),
        ({"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 9}}, "list of integer, 1 to 9"),
        ({"type": ["string", "null"], "maxLength": 80}, "string or nothing, at most 80 characters"),
        ({"type": "integer", "minimum": 0}, "integer, at least 0"),
        ({"oneOf": [{"enum": ["a", "b"]}, {"type": "null"}]}, 'one of "a", "b" or nothing'),
        ({}, "anything"),
    ],
)
def test_a_schema_is_said_in_words(schema, said):
    assert kind_of(schema) == said


def test_descriptions_are_escaped_and_their_code_is_marked():
    assert prose("Takes `<b>`.\n\nOr ``x``.") == "<p>Takes <code>&lt;b&gt;</code>.</p><p>Or <code>x</code>.</p>"


def test_no_backtick_is_shown_in_the_list_or_a_heading(page):
    assert any("`" in each.summary for each in operations().values())
    assert "`" not in page()[1]
    name = next(each.name for each in operations().values() if "`" in each.summary)
    heading = re.search(r"<h1>(.*?)</h1>", page(f"{name}/")[1])[1]
    assert "<code>" in heading
    assert "`" not in heading
