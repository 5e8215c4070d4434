"""Training of the vector classifiers. It needs neither a database nor settings."""

from django.conf import settings

if not settings.configured:
    settings.configure(USE_I18N=False)
