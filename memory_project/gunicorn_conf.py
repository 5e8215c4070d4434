"""gunicorn's settings for ``make run`` and production; command-line options such as ``--bind`` take precedence."""

import os
import resource

bind = f"127.0.0.1:{os.environ.get('PORT', '8000')}"
# Bodies and streams run on an event loop, views on threads: see serving.py.
worker_class = "memory_project.worker.PatientWorker"
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
asgi_lifespan = "off"
# Django alone decides whether X-Forwarded-Proto is trusted (BEHIND_PROXY); gunicorn believes it from this machine.
secure_scheme_headers: dict[str, str] = {}
# Imported once, before the workers fork; connections are opened later, at their first use.
preload_app = True
timeout = 60
graceful_timeout = 5
keepalive = 5
# The application logs every request itself, without its query, which may hold search words.
accesslog = None
# Unused, and its socket would be in the home directory, shared by all copies.
control_socket_disable = True

# Each client holds a file descriptor for as long as it is connected.
_, _most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (_most, _most))
