"""Admin of places: owner, age, number of mentions, without names."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.admin import EmptyFieldListFilter

from accounts.models import User
from conversations.models import Message
from web.admin import link_column

from ..models import Place, PlaceMention, PlaceVersion
from .memories import OfPersonAdmin


@admin.register(Place)
class PlaceAdmin(OfPersonAdmin):
    """Admin of places."""

    id_fields = ("pk", "user_id")
    list_display = ["id", "person", "version", "tokens", "added_at", "updated_at", "deleted_at"]
    list_filter = [("deleted_at", EmptyFieldListFilter), "added_at"]
    list_select_related = ["user"]
    fields = ["id", "person", "version", "tokens", "active_rev", "added_at", "updated_at", "deleted_at", "purge_at"]
    readonly_fields = ["person"]
    deferred = ("place_id", "name", "notes")


class _OfPlaceAdmin(OfPersonAdmin):
    """Base for rows of a place."""

    user_field = "place__user_id"
    readonly_fields = ["place_link", "person"]

    place_link = link_column(Place, "place_id", "place")
    person = link_column(User, "place.user_id", "person", name="place.user.username")


@admin.register(PlaceVersion)
class PlaceVersionAdmin(_OfPlaceAdmin):
    """Admin of versions of places."""

    id_fields = ("place_id", "place__user_id")
    list_display = ["id", "place_link", "number", "person", "recorded_from_rev", "recorded_to_rev"]
    fields = ["place_link", "number", "person", "recorded_from_rev", "recorded_to_rev"]
    loaded = ("number", "recorded_from_rev", "recorded_to_rev", "place__user__username")


@admin.register(PlaceMention)
class PlaceMentionAdmin(_OfPlaceAdmin):
    """Admin of mentions."""

    id_fields = ("place_id", "message_id", "place__user_id")
    list_display = ["id", "place_link", "message_link", "person", "at"]
    list_filter = ["at"]
    fields = ["place_link", "message_link", "person", "rev", "at"]
    readonly_fields = [*_OfPlaceAdmin.readonly_fields, "message_link"]
    loaded = ("message_id", "rev", "at", "place__user__username")

    message_link = link_column(Message, "message_id", "message")
