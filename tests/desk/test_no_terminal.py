"""No page sends a person to a terminal."""

import re

import pytest

from tests.every_call import API, routes

from .conftest import words

pytestmark = pytest.mark.django_db
OF_PROGRAMS = {"docs-operation", "mcp", "mcp-metadata", "metrics", "legacy-picture", "export-file-page"}
TERMINAL = re.compile(r"manage\.py|\bterminal\b|command line|\bshell\b", re.IGNORECASE)


def test_no_page_tells_a_person_to_use_a_terminal(visit, owner, rows):
    client, found = visit(owner), {}
    for route, pattern in routes():
        if pattern.startswith(API) or route.name in OF_PROGRAMS or not route.pattern.converters.keys() <= rows.keys():
            continue
        address = re.sub(r"<(?:\w+:)?(\w+)>", lambda match: str(rows[match[1]]), pattern)
        answer = client.get(address)
        if answer.status_code == 200 and answer.get("Content-Type", "").startswith("text/html"):
            found[address] = TERMINAL.findall(words(answer))
    assert len(found) > 30
    assert {address: told for address, told in found.items() if told} == {}
