"""The ASGI application that gunicorn serves."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_project.settings")

import django

from accounts import categories
from memory_project.faults import require_strong_secret_keys
from memory_project.preloading import preload, preload_pages

require_strong_secret_keys()
django.setup(set_prefix=False)

from memory_project.serving import Application  # noqa: E402 - it needs the models

application = Application()

preload_pages()
# The web server runs no system checks, so a faulty categories.yaml has to stop it here.
categories.load()
preload()
