"""That nothing starts with a secret key that can be guessed."""

import secrets
import subprocess
import sys

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured

from memory_project.faults import fault_in_secret_keys, require_strong_secret_keys

GOOD = "n7Vq2ZrTe0yB4mXcW9uLk5sJd8fHg1Pa"


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("unused", "fewer than 32 characters"),
        (GOOD[:31], "fewer than 32 characters"),
        ("ab" * 40, "fewer than 10 different characters"),
        ("django-insecure-" + GOOD, "an example"),
        ("CHANGE_ME" + GOOD, "an example"),
    ],
)
def test_a_weak_key_is_named_and_not_shown(key, why):
    assert why in fault_in_secret_keys([key], debug=False)
    assert key not in fault_in_secret_keys([key], debug=False)
    assert fault_in_secret_keys([GOOD, key], debug=False).startswith("Number 1 of SECRET_KEY_FALLBACKS")
    assert fault_in_secret_keys([key], debug=True) == ""


def test_a_key_that_is_made_is_good(settings):
    assert all(fault_in_secret_keys([secrets.token_urlsafe(48)], debug=False) == "" for _ in range(1_000))
    require_strong_secret_keys()
    assert "memory_project.E001" not in {fault.id for fault in run_checks()}


def test_commands_and_servers_refuse_it(settings):
    settings.DEBUG, settings.SECRET_KEY = False, "unused"
    assert "memory_project.E001" in {fault.id for fault in run_checks()}
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY has fewer than 32 characters"):
        require_strong_secret_keys()


@pytest.mark.slow
def test_the_web_server_does_not_start_with_it(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "unused")
    monkeypatch.setenv("DEBUG", "false")
    done = subprocess.run(
        [sys.executable, "-c", "import memory_project.asgi"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "ImproperlyConfigured: SECRET_KEY has fewer than 32 characters" in done.stderr
