"""Preload models before the server forks, so that its processes share them and no first request waits for them."""

import ctypes
import gc
from contextlib import suppress

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
