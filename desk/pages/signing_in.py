"""Signing in and out."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from assistant.demo import demo_sign_ins


class SignIn(LoginView):
    """Sign in with user name and password; who is signed in already goes home."""

    template_name = "desk/sign_in.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add who can sign in when the demo is loaded."""
        return super().get_context_data(demo=demo_sign_ins(), **kwargs)


urlpatterns = [
    path("sign-in/", SignIn.as_view(), name="sign-in"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
]
