"""Making what is judged by vectors. It needs no deployment: neither a database nor any of its settings."""

from django.conf import settings

if not settings.configured:
    settings.configure(USE_I18N=False)
