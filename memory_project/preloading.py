"""Preload models and pages before the server forks: its processes share them, and no first request waits for them."""

import ctypes
import gc
from contextlib import suppress

from django.conf import settings
from django.template.loader import get_template
from django.urls import get_resolver

from language.backends import preload_networks
from language.reading.parse import preload_reading
from language.tokens import count_tokens
from retrieval.text import prepare


def preload() -> None:
    """Load the vocabularies and models, which takes some seconds, and exclude them from garbage collection.

    Otherwise every full collection would walk a few hundred thousand objects: 0.2 to 0.4 s in which no thread of the
    process runs, every few hundred requests. It would also make each process copy the shared pages.
    """
    prepare("")
    count_tokens("")
    preload_networks()
    preload_reading()
    gc.collect()
    gc.freeze()
    # What loading needed meanwhile, about 200 MB, goes back to the system; a C library other than glibc can't be told.
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def preload_pages() -> None:
    """Import all views and compile the pages' templates.

    Called before ``preload``, which keeps them from garbage collection: a full one then takes 7 ms in place of 26.
    """
    get_resolver().resolve("/health/live")
    folder = settings.BASE_DIR / "templates"
    for path in folder.rglob("*.html"):
        get_template(str(path.relative_to(folder)))
