"""The WSGI application that gunicorn serves."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_project.settings")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()
