"""Validation of settings, alone and in combination. An invalid one stops the start with a message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from django.conf import settings as django_settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.exceptions import ImproperlyConfigured

from language.embedders.choice import REMOTE, read_choice
from language.reranker import read_choice as read_reranker
from retrieval.weights import weights_error

_SHORTEST_KEY = 32
_FEWEST_CHARACTERS = 10
# Pairs of a condition and the message for when it does not hold.
_Checks = Iterable[tuple[object, str]]
_EXAMPLES = re.compile(r"django-insecure|change.?me|secret.?key|example|password|keepsake|default", re.IGNORECASE)


def fault_in_secret_keys(keys: Iterable[str], *, debug: bool) -> str:
    """Return why one of the keys is weak, or ''. The keys sign sessions and fingerprint agents' keys.

    ``keys`` are SECRET_KEY and its fallbacks. The message names the key's position, never its value.
    """
    for number, key in enumerate(() if debug else keys):
        weak = (
            (len(key) < _SHORTEST_KEY, f"has fewer than {_SHORTEST_KEY} characters"),
            (len(set(key)) < _FEWEST_CHARACTERS, f"has fewer than {_FEWEST_CHARACTERS} different characters"),
            (_EXAMPLES.search(key), "is made of an example or of words that are tried first"),
        )
        for holds, reason in weak:
            if holds:
                name = f"Number {number} of SECRET_KEY_FALLBACKS" if number else "SECRET_KEY"
                return f"{name} {reason}. Make one: python -c 'import secrets; print(secrets.token_urlsafe(48))'"
    return ""


def require_strong_secret_keys() -> None:
    """Raise ImproperlyConfigured if a secret key is weak."""
    if fault := _fault_in_secret_keys():
        raise ImproperlyConfigured(fault)


@register(Tags.security)
def check_secret_keys(**_: Any) -> list[CheckMessage]:
    """Report weak secret keys as a Django system check, which commands and workers run at their start."""
    fault = _fault_in_secret_keys()
    return [Error(fault, id="memory_project.E001")] if fault else []


def _fault_in_secret_keys() -> str:
    return fault_in_secret_keys(
        [django_settings.SECRET_KEY, *django_settings.SECRET_KEY_FALLBACKS], debug=django_settings.DEBUG
    )


def faults_in(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield a message for each invalid setting."""
    s = SimpleNamespace(**settings)
    for checks in (_serving_checks, _model_checks, _reply_checks, _memory_checks, _embedder_checks):
        for holds, fault in checks(s):
            if not holds:
                yield fault


def _serving_checks(s: SimpleNamespace) -> _Checks:
    """Return the checks of the web server and its database."""
    return (
        (
            0.001 <= s.MIGRATION_LOCK_TIMEOUT_SECONDS <= 86_400,
            "MIGRATION_LOCK_TIMEOUT_SECONDS must be more than 0 and at most a day",
        ),
        (
            1 <= s.WEB_THREADS < s.DATABASES["default"]["OPTIONS"]["pool"]["max_size"],
            "WEB_THREADS must be 1 or more and less than DATABASE_POOL_SIZE: health has a connection of its own",
        ),
    )


def _model_checks(s: SimpleNamespace) -> _Checks:
    """Return the checks of the models that extract and judge."""
    return (
        (
            s.KEEPSAKE_MODEL == "offline" or s.ANTHROPIC_API_KEY,
            "KEEPSAKE_MODEL names a model, which needs ANTHROPIC_API_KEY",
        ),
        (
            not s.KEEPSAKE_JUDGE_MODEL or s.KEEPSAKE_MODEL != "offline",
            "KEEPSAKE_JUDGE_MODEL judges what KEEPSAKE_MODEL found, which is offline",
        ),
        *(
            (effort in {"", "low", "medium", "high", "xhigh", "max"}, f"{name} is low, medium, high, xhigh or max")
            for name, effort in vars(s).items()
            if name.startswith("KEEPSAKE_") and name.endswith("_EFFORT")
        ),
        (
            all(256 <= most <= 64_000 for most in (s.KEEPSAKE_MODEL_TOKENS, s.KEEPSAKE_JUDGE_TOKENS)),
            "KEEPSAKE_MODEL_TOKENS and KEEPSAKE_JUDGE_TOKENS must be from 256 to 64,000",
        ),
        (len(s.KEEPSAKE_MODEL) <= 80, "KEEPSAKE_MODEL may have 80 characters: it is stored with what the model wrote"),
        (
            s.ANTHROPIC_API_KEY.isascii() and not any(map(str.isspace, s.ANTHROPIC_API_KEY)),
            "ANTHROPIC_API_KEY is no key",
        ),
        (s.ANTHROPIC_BASE_URL.startswith(("https://", "http://")), "ANTHROPIC_BASE_URL must be an http(s):// address"),
        (
            0 < s.KEEPSAKE_MODEL_TIMEOUT_SECONDS <= s.MODEL_TIMEOUT_MAX_SECONDS,
            f"KEEPSAKE_MODEL_TIMEOUT_SECONDS must be more than 0 and at most {s.MODEL_TIMEOUT_MAX_SECONDS}",
        ),
        (s.KEEPSAKE_MODEL_RETRIES >= 0, "KEEPSAKE_MODEL_RETRIES must not be negative"),
    )


def _reply_checks(s: SimpleNamespace) -> _Checks:
    """Return the checks of the assistant's replies."""
    return (
        (
            s.KEEPSAKE_REPLY_MODEL == "offline" or s.ANTHROPIC_API_KEY,
            "KEEPSAKE_REPLY_MODEL names a model, which needs ANTHROPIC_API_KEY",
        ),
        (
            len(s.KEEPSAKE_REPLY_MODEL) <= 80,
            "KEEPSAKE_REPLY_MODEL may have 80 characters: it is stored with its replies",
        ),
        (
            not s.KEEPSAKE_COUNCIL_MODELS or s.ANTHROPIC_API_KEY,
            "KEEPSAKE_COUNCIL_MODELS names models, which need ANTHROPIC_API_KEY",
        ),
        (
            all(0 < len(name) <= 80 and name != "offline" for name in s.KEEPSAKE_COUNCIL_MODELS)
            and len(s.KEEPSAKE_COUNCIL_MODELS) <= 5,
            "KEEPSAKE_COUNCIL_MODELS may name five models of the API, of 80 characters each",
        ),
        (10 <= s.REPLY_SECONDS <= 600, "REPLY_SECONDS must be from 10 to 600"),
        (1 <= s.REPLY_ROUNDS <= 20, "REPLY_ROUNDS must be from 1 to 20"),
        (100 <= s.REPLY_TOKENS <= 16_000, "REPLY_TOKENS must be from 100 to 16,000"),
        (1 <= s.REPLY_ALONE_SECONDS <= 60, "REPLY_ALONE_SECONDS must be from 1 to 60"),
    )


def _memory_checks(s: SimpleNamespace) -> _Checks:
    """Return the checks of extraction, comparison, recall and imports."""
    return (
        (1 <= s.EXTRACTION_ROUNDS <= 10, "EXTRACTION_ROUNDS must be from 1 to 10"),
        (s.EXTRACTED_PER_USER_AND_DAY >= 0, "EXTRACTED_PER_USER_AND_DAY must not be negative"),
        (not weights_error(s.SEARCH_WEIGHTS), f"SEARCH_WEIGHTS: {weights_error(s.SEARCH_WEIGHTS)}"),
        (0 <= s.RECALL_CONFIDENT < float("inf"), "RECALL_CONFIDENT must be 0, for never, or more"),
        (s.MEMORY_BLOCK_TOKENS > 0, "MEMORY_BLOCK_TOKENS must be more than 0"),
        (
            0
            < s.MEMORY_LINK_MIN_SIMILARITY
            <= s.MEMORY_FALLBACK_LOW_SIMILARITY
            <= s.MEMORY_CHECK_LOW_SIMILARITY
            <= s.MEMORY_UPDATE_SIMILARITY
            <= min(s.MEMORY_AUTO_SIMILARITY, s.MEMORY_FIELD_UPDATE_SIMILARITY),
            "The MEMORY_…_SIMILARITY must be in order: "
            "LINK_MIN ≤ FALLBACK_LOW ≤ CHECK_LOW ≤ UPDATE ≤ AUTO, FIELD_UPDATE",
        ),
        (
            max(s.MEMORY_AUTO_SIMILARITY, s.MEMORY_FIELD_UPDATE_SIMILARITY) <= s.MEMORY_FIELD_AUTO_SIMILARITY,
            "MEMORY_FIELD_AUTO_SIMILARITY must be at least MEMORY_AUTO_SIMILARITY and MEMORY_FIELD_UPDATE_SIMILARITY",
        ),
        (s.IMPORT_MAX_BYTES > 0, "IMPORT_MAX_MB must be more than 0"),
    )


def _embedder_checks(s: SimpleNamespace) -> _Checks:
    """Return the checks of the embedder and the reranker."""
    return (
        (
            0 < s.KEEPSAKE_EMBEDDER_TIMEOUT_SECONDS <= s.EMBEDDER_TIMEOUT_MAX_SECONDS,
            f"KEEPSAKE_EMBEDDER_TIMEOUT_SECONDS must be more than 0 and at most {s.EMBEDDER_TIMEOUT_MAX_SECONDS}",
        ),
        (
            0 < s.KEEPSAKE_EMBEDDER_QUERY_TIMEOUT_SECONDS <= s.EMBEDDER_TIMEOUT_MAX_SECONDS,
            f"KEEPSAKE_EMBEDDER_QUERY_TIMEOUT_SECONDS must be more than 0 and at most {s.EMBEDDER_TIMEOUT_MAX_SECONDS}",
        ),
        (s.KEEPSAKE_ENTAILMENT in {"bundled", "off"}, "KEEPSAKE_ENTAILMENT must be bundled or off"),
        (s.KEEPSAKE_EMBEDDER_RETRIES >= 0, "KEEPSAKE_EMBEDDER_RETRIES must not be negative"),
        (1 <= s.KEEPSAKE_EMBEDDER_BATCH <= 1_000, "KEEPSAKE_EMBEDDER_BATCH must be from 1 to 1,000"),
        (32 <= s.KEEPSAKE_EMBEDDER_TEXT_TOKENS <= 8_000, "KEEPSAKE_EMBEDDER_TEXT_TOKENS must be from 32 to 8,000"),
        (
            0 < s.KEEPSAKE_RERANKER_TIMEOUT_SECONDS <= s.RERANKER_TIMEOUT_MAX_SECONDS,
            f"KEEPSAKE_RERANKER_TIMEOUT_SECONDS must be more than 0 and at most {s.RERANKER_TIMEOUT_MAX_SECONDS}",
        ),
        (
            not read_reranker(s.KEEPSAKE_RERANKER) or s.RERANKER_API_KEY or s.RERANKER_BASE_URL,
            "KEEPSAKE_RERANKER names a server that needs RERANKER_API_KEY, or RERANKER_BASE_URL of another",
        ),
        *(
            (holds, fault)
            for name, key, url in (
                ("OPENAI", s.OPENAI_API_KEY, s.OPENAI_BASE_URL),
                ("VOYAGE", s.VOYAGE_API_KEY, s.VOYAGE_BASE_URL),
                ("RERANKER", s.RERANKER_API_KEY, s.RERANKER_BASE_URL or "https://"),
            )
            for holds, fault in (
                (key.isascii() and not any(map(str.isspace, key)), f"{name}_API_KEY is no key"),
                (url.startswith(("https://", "http://")), f"{name}_BASE_URL must be an http(s):// address"),
            )
        ),
        *(
            (
                choice.kind not in REMOTE
                or (s.OPENAI_API_KEY if choice.kind == "openai" else s.VOYAGE_API_KEY)
                or elsewhere,
                f"{setting} names {choice.kind}, which needs {choice.kind.upper()}_API_KEY",
            )
            for setting, value in (
                ("KEEPSAKE_EMBEDDER", s.KEEPSAKE_EMBEDDER),
                ("KEEPSAKE_EMBEDDER_BEFORE", s.KEEPSAKE_EMBEDDER_BEFORE or "bundled"),
            )
            for choice in (read_choice(setting, value),)
            for elsewhere in (choice.kind == "openai" and s.OPENAI_BASE_URL != s._OPENAI_URL,)
        ),
    )
