"""The embedded PostgreSQL and Valkey: the one module that creates, starts and stops them.

It uses the wheels' programs only. ``EmbeddedServers`` runs whichever of the two the environment does not already
name an address for, with everything they keep in one directory.
"""

from .account import ServerError
from .servers import EmbeddedServers, throw_away_servers

__all__ = ["EmbeddedServers", "ServerError", "throw_away_servers"]
