"""The documents: what they name is there."""

import re
from pathlib import Path

from journal.models import Change

ROOT = Path(__file__).parent.parent


def test_every_event_of_the_change_feed_is_explained():
    told = (ROOT / "docs/webhooks.md").read_text(encoding="utf-8")
    assert not {event for event in Change.Event.values if f"`{event}`" not in told}


def documents():
    return [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


NAMED = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/?)`")
TOP = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"var", "import"}


def test_paths_that_the_documents_name_exist():
    """In full, as ``room/file.py``; in a table's row that begins with a room also as seen from there."""
    missing = set()
    for document in documents():
        for line in document.read_text(encoding="utf-8").splitlines():
            row = re.match(r"\| `([a-z_]+/)`", line)
            folders = [ROOT, ROOT / row[1]] if row else [ROOT]
            folders += [folder / part for folder in folders for part in NAMED.findall(line) if part.endswith("/")]
            for name in NAMED.findall(re.sub(r"`[^`]+` of \w+/", "", line)):  # Those are files of other projects.
                is_path = name.split("/")[0] in TOP and re.search(r"/.*\.\w+$", name)
                is_file = row is not None and name.endswith(".py")
                if (is_path or is_file) and not any((folder / name).exists() for folder in folders):
                    missing.add(f"{document.name}: {name}")
    assert not missing
