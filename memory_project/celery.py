"""The Celery application. Tasks are thin and take ids only; the durable rows they start from are in the database."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_project.settings")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from celery import Celery

app = Celery("keepsake")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
