"""Registers the staff's admin site in the place of Django's own."""

from django.contrib.admin.apps import AdminConfig


class StaffAdminConfig(AdminConfig):
    """Django's admin with the staff's site as its default."""

    default_site = "memory_project.staff.site.StaffSite"
