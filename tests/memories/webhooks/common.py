"""What tests of webhooks look at and bring about."""

import json
import re
from pathlib import Path

from accounts.queries import principal_for_person
from memories.actions import (
    memory_archive,
)
from tests import factories


def told(receiver):
    """The changes that came in, message by message."""
    return [json.loads(body)["results"] for _, _, body in receiver.took]


def archived(owner, **more):
    memory = factories.MemoryFactory(user=owner, **more)
    memory_archive(principal_for_person(owner.pk), memory.pk)
    return memory


def verification():
    """The code that docs/webhooks.md gives to receivers."""
    text = Path("docs/webhooks.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"<!-- verify:begin -->\n```python\n(.*?)```\n<!-- verify:end -->", text, re.DOTALL)
    names = {}
    exec(compile(code, "docs/webhooks.md", "exec"), names)
    return names["verify"]
