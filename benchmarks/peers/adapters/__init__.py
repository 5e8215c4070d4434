"""The peers, each behind the same few calls. They are used as their documentation says, through their public API.

Only the filling of their tables, and reading back what was added, goes past it. A module here imports its peer, so
only ``runner`` imports these modules.
"""
