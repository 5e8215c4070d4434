"""Axe looks at every page (test_accessibility.py, tests/memory_project/test_in_browser.py), and these tests say so."""

import ast
import json
import re
from pathlib import Path

from tests.every_call import routes
from tests.test_query_counts import COUNTS

HERE = Path(__file__)
SWEEPS = [HERE.with_name("test_accessibility.py"), HERE.parents[1] / "memory_project" / "test_in_browser.py"]
NO_PAGES = {
    # Called by programs, and files.
    *("mcp", "mcp-metadata", "metrics", "legacy-picture", "export-file-page"),
    # Parts of pages, seen where they stand.
    *("review-ahead", "chat-latest", "agent-first-call", "memory-opened", "fact-opened"),
    # Lead elsewhere; what they answer to a form is seen after the form is sent.
    *("legacy-invite", "agent-add-webhook", "agent-another-key", "telegram-code"),
    # Reached by a link of another page.
    "docs-operation",
}


def test_every_page_is_swept():
    addresses = {address for sweep in SWEEPS for address in addresses_in(sweep)}
    readable = {
        name.removeprefix("page ") for name in json.loads(COUNTS.read_text("utf-8")) if name.startswith("page ")
    }
    pages = {route.name: re.sub(r"<[^>]+>", "[^/]+", path) for route, path in routes() if route.name in readable}
    missed = {name for name, path in pages.items() if not any(re.fullmatch(path, each) for each in addresses)}
    assert missed - NO_PAGES == set()


def addresses_in(sweep):
    """The addresses that stand in a test file, without their queries and with "x" for what is filled in."""
    for node in ast.walk(ast.parse(sweep.read_text("utf-8"))):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in parts)
        if text.startswith("/"):
            yield re.split(r"[?#]", text)[0]
