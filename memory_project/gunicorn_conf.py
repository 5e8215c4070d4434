"""gunicorn's settings, for ``make run`` and production alike; its command line (``--bind``) goes before them."""

import os

bind = f"127.0.0.1:{os.environ.get('PORT', '8000')}"
worker_class = "gthread"
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
# A streamed answer holds its thread until it ends, so there are many more threads than cores.
threads = 32
# Imported once, before the processes part; connections open at their first use, after that.
preload_app = True
timeout = 60
graceful_timeout = 5
# The application logs every request itself, without its query, which may hold search words.
accesslog = None
# Nobody steers it from outside, and its socket would lie in the home directory, shared by all copies.
control_socket_disable = True
