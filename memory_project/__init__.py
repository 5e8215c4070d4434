"""The Django project: settings, URLs, the Celery app, health checks, the embedded servers."""

import os

# NumPy reads it when it is imported, which happens after this. Matrix products are small here: one of 40 x 384 with
# itself took 0.03 ms on one thread, and 1.5 ms on two while another process kept one of two cores busy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from .celery import app as celery_app

__all__ = ["celery_app"]
