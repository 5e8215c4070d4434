"""The ASGI application that gunicorn serves."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_project.settings")

import django

from accounts import categories
from language.backends import preload_embedder
from language.reading.parse import preload_reading
from language.tokens import count_tokens
from memory_project.faults import must_have_strong_secret_keys
from retrieval.text import prepare

must_have_strong_secret_keys()
django.setup(set_prefix=False)

from memory_project.serving import Application  # noqa: E402 - it needs the models

application = Application()

# The vocabularies and models behind these take some seconds to load. Here, before the processes part, they are
# loaded once and shared, and no first message waits for them.
prepare("")
count_tokens("")
preload_embedder()
preload_reading()
# The web server runs no system checks: a faulty file stops it here, by name.
categories.load()
