"""How many statements every page and every call of the API takes, as ``query_counts.json`` has it.

``UPDATE_QUERY_COUNTS=1 make test ARGS=tests/test_query_counts.py`` writes that file anew: what a change does to the
counts is then seen in its diff. What must not grow with the number of rows, tests of the rooms say.
"""

import json
import os
import re
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.conftest import taken_back
from tests.every_call import API, BODIES, REFUSED, TRIED_ON, filled, methods, routes

pytestmark = pytest.mark.django_db

COUNTS = Path(__file__).with_name("query_counts.json")


def statements(send):
    """How many statements a call takes when what the process keeps for all callers is there; it leaves nothing."""
    for _ in range(2):
        with taken_back(), CaptureQueriesContext(connection) as queries:
            answer = send()
    return answer, len(queries)


def test_every_page_and_call_takes_as_many_statements_as_the_file_says(api, owner, rows, settings):
    settings.TELEGRAM_SECRET_TOKEN, settings.TELEGRAM_BOT_NAME = "a-secret", "keepsake_bot"
    client, found, failed = api(owner), {}, []
    for route, pattern in routes():
        known = rows | {name: rows[row] for name, row in TRIED_ON.get(route.name, {}).items()}
        if not route.pattern.converters.keys() <= known.keys():
            continue  # A step of a page, with what it decides in its address: it is posted to.
        address = re.sub(r"<(?:\w+:)?(\w+)>", lambda match: str(known[match[1]]), pattern)  # noqa: B023 - called at once.
        for method in methods(route):
            call = f"{method.upper()} {route.name}"
            data = BODIES.get(call)
            form = "multipart" if callable(data) else "json"
            send, more = getattr(client, method), {} if method == "get" else {"format": form}
            answer, count = statements(lambda: send(address, filled(data, rows), **more))  # noqa: B023 - called at once.
            if answer.status_code == 405:
                continue
            if answer.status_code >= 400 and call not in REFUSED:
                failed.append((call, answer.status_code, answer.content[:90]))
            name = call if address.startswith(API) or method != "get" else f"page {route.name}"
            assert name not in found, "It stands among the addresses twice."
            found[name] = count
    assert not failed, "\n".join(map(str, failed))
    if os.environ.get("UPDATE_QUERY_COUNTS"):
        COUNTS.write_text(json.dumps(dict(sorted(found.items())), indent=2) + "\n", encoding="utf-8")
    assert found == json.loads(COUNTS.read_text(encoding="utf-8"))
