"""gunicorn's settings, for ``make run`` and production alike; its command line (``--bind``) goes before them."""

import os
import resource

bind = f"127.0.0.1:{os.environ.get('PORT', '8000')}"
# Requests are read, and streams are held, on an event loop; serving.py says what has threads.
worker_class = "memory_project.worker.PatientWorker"
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
asgi_lifespan = "off"
# Imported once, before the processes part; connections open at their first use, after that.
preload_app = True
timeout = 60
graceful_timeout = 5
keepalive = 5
# The application logs every request itself, without its query, which may hold search words.
accesslog = None
# Nobody steers it from outside, and its socket would lie in the home directory, shared by all copies.
control_socket_disable = True

# Each client holds a file descriptor for as long as it is connected.
_, _most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (_most, _most))
