"""The admin site for staff: login, sidebar, dashboard, moderation queue."""
