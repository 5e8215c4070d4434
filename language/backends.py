"""Which language model and which embedder this deployment uses, chosen by the settings."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, cast

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from language.base import Embedder, EmbedderUnavailable, LanguageModel, Vectors
from language.embedders.choice import LOCAL, EmbedderChoice, read_choice
from language.entailment.model import EntailmentModel, EntailmentUnavailable

MODELS = {"offline": "language.offline.model.OfflineModel"}
MESSAGES_API = "language.anthropic_model.from_settings"
EMBEDDERS = {
    "bundled": "language.embedders.e5.embedder.BundledEmbedder",
    "hashing": "language.embedders.hashing.HashingEmbedder",
}
ENTAILMENT = "language.entailment.model.EntailmentModel"
EMBEDDINGS_API = "language.embedders.remote.from_settings"

_lock = threading.Lock()
_instances: dict[str, Any] = {}
_replacement: Embedder | None = None


def get_model() -> LanguageModel:
    """Return the language model, as ``KEEPSAKE_MODEL`` says: ``offline``, or the name of a model to call by its API.

    Raises ImproperlyConfigured if the setting is missing, or names a model while there is no ``ANTHROPIC_API_KEY``.
    """
    return _model("KEEPSAKE_MODEL")


def get_reply_model() -> LanguageModel:
    """Return the language model that talks, as ``KEEPSAKE_REPLY_MODEL`` says. Raises what ``get_model`` raises."""
    return _model("KEEPSAKE_REPLY_MODEL")


def get_model_named(name: str) -> LanguageModel:
    """Return the language model of that name in the API. Raises ImproperlyConfigured without ``ANTHROPIC_API_KEY``."""
    if not settings.ANTHROPIC_API_KEY:
        raise ImproperlyConfigured(f"{name} needs ANTHROPIC_API_KEY.")
    return cast(LanguageModel, import_string(MESSAGES_API)(name))


def get_rules() -> LanguageModel:
    """Return the rules that need no model, whatever the deployment uses."""
    return cast(LanguageModel, _shared(MODELS["offline"]))


def get_embedder() -> Embedder:
    """Return this process's embedder, as ``KEEPSAKE_EMBEDDER`` says; one of our own loads its weights on first use.

    Raises ImproperlyConfigured if the setting is missing or unknown.
    """
    return _replacement or _embedder(_choice())


def get_embedder_before() -> Embedder | None:
    """Return the embedder whose vectors are still searched, as ``KEEPSAKE_EMBEDDER_BEFORE`` says, or None.

    Raises ImproperlyConfigured if the setting is unknown.
    """
    choice = _choice_before()
    before = _embedder(choice) if choice else None
    return before if before and before.name != get_embedder().name else None


def get_entailment() -> EntailmentModel | None:
    """Return what compares the meaning of two texts; None if ``KEEPSAKE_ENTAILMENT`` is ``off``."""
    return None if settings.KEEPSAKE_ENTAILMENT == "off" else cast(EntailmentModel, _shared(ENTAILMENT))


def judged_by(tuning: str, pairs: Sequence[tuple[str, str]]) -> Vectors | None:
    """Return the logits that a tuning of the network gives pairs of texts: (len(pairs),).

    None without pairs or the network, or with another than it was tuned for.
    """
    network = get_entailment()
    if network is None or not pairs:
        return None
    try:
        return network.judge_pairs(tuning, pairs)
    except EntailmentUnavailable:
        return None


def preload_networks() -> None:
    """Load the networks that run in this process, so that no first question waits for them.

    One that can't be loaded says so in the log. Raises ImproperlyConfigured if a setting is missing or unknown.
    """
    for choice in filter(None, (_choice(), _choice_before())):
        if choice.kind in LOCAL:
            with suppress(EmbedderUnavailable):
                _embedder(choice).embed_query("")
    # With another embedder, statements are compared by their words.
    entailment = get_entailment() if _choice().kind == "bundled" else None
    if entailment is not None:
        with suppress(EntailmentUnavailable):
            entailment.read_pairs([("", "")])


@contextmanager
def embedder_replaced(embedder: Embedder) -> Iterator[None]:
    """Let ``get_embedder`` return another embedder meanwhile, in the whole process: for commands, not for servers."""
    global _replacement  # noqa: PLW0603
    _replacement = embedder
    try:
        yield
    finally:
        _replacement = None


def _choice() -> EmbedderChoice:
    return read_choice("KEEPSAKE_EMBEDDER", getattr(settings, "KEEPSAKE_EMBEDDER", None))


def _choice_before() -> EmbedderChoice | None:
    before = settings.KEEPSAKE_EMBEDDER_BEFORE
    return read_choice("KEEPSAKE_EMBEDDER_BEFORE", before) if before else None


def _embedder(choice: EmbedderChoice) -> Embedder:
    if choice.kind in LOCAL:
        return cast(Embedder, _shared(EMBEDDERS[choice.kind]))
    return cast(Embedder, import_string(EMBEDDINGS_API)(choice))


def _model(setting: str) -> LanguageModel:
    chosen = getattr(settings, setting, None)
    if isinstance(chosen, str) and chosen and chosen not in MODELS and settings.ANTHROPIC_API_KEY:
        return cast(LanguageModel, import_string(MESSAGES_API)(chosen))
    return cast(LanguageModel, _instance(setting, MODELS, " (another model needs ANTHROPIC_API_KEY)"))


def _instance(setting: str, choices: dict[str, str], hint: str = "") -> Any:
    chosen = getattr(settings, setting, None)
    path = choices.get(chosen) if isinstance(chosen, str) else None
    if path is None:
        raise ImproperlyConfigured(f"{setting} is {chosen!r}; choose one of {', '.join(sorted(choices))}{hint}.")
    return _shared(path)


def _shared(path: str) -> Any:
    with _lock:
        if path not in _instances:
            _instances[path] = import_string(path)()
        return _instances[path]
