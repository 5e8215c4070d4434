"""What a server loads before its processes part."""

import subprocess
import sys
from unittest.mock import patch

import pytest
from django.conf import settings
from django.template import engines

from memory_project.preloading import preload_pages

_COUNTED = """
import gc
import memory_project.asgi
print(gc.get_freeze_count(), len(gc.get_objects()))
"""


@pytest.mark.slow
def test_the_garbage_collector_walks_nothing_of_what_was_loaded():
    """Reproduction: one call in some hundred took 0.4 s, since a full collection walked 350,000 objects."""
    command = [sys.executable, "-c", _COUNTED]
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True, timeout=120)
    frozen, walked = map(int, done.stdout.split())
    assert frozen > 100_000
    assert walked < 5_000


def test_the_templates_of_pages_are_compiled_before_the_first_request():
    loader = engines["django"].engine.template_loaders[0]
    loader.reset()
    preload_pages()
    with patch("django.template.base.Template.compile_nodelist", side_effect=AssertionError("compiled again")):
        for path in (settings.BASE_DIR / "templates").rglob("*.html"):
            engines["django"].get_template(str(path.relative_to(settings.BASE_DIR / "templates")))
