"""Benchmarks of speed and quality, to run on your own machine."""

import os

# As in Keepsake's own processes (memory_project), but also where peers run, which have none of its code.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

_SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "memory_project.settings",
    "DATABASE_URL": "postgres://nobody@127.0.0.1/none",
    "REDIS_URL": "redis://127.0.0.1:1",
    "DEBUG": "1",
    "SECRET_KEY": "of no use",
}


def set_up_without_servers() -> None:
    """Set Django up for code that uses no server, with placeholder settings where none are given."""
    import django  # Peers run where it is not installed.

    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    django.setup()
