"""What a server loads once, before its processes part, so that they share it and no first request waits for it."""

import gc

from language.backends import preload_embedder
from language.reading.parse import preload_reading
from language.tokens import count_tokens
from retrieval.text import prepare


def preload() -> None:
    """Load the vocabularies and models, which takes some seconds, and keep the garbage collector away from them.

    It would walk all that lives here, a few hundred thousand objects, at every full collection: 0.2 to 0.4 s in which
    no thread of the process runs, every few hundred requests. And each process would then have a copy of the pages.
    """
    prepare("")
    count_tokens("")
    preload_embedder()
    preload_reading()
    gc.collect()
    gc.freeze()
