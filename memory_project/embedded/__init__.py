"""The embedded PostgreSQL and Valkey: create, start and stop them.

Only the wheels' programs are used. ``EmbeddedServers`` runs each of the two whose address is not set in the
environment, with all data in one directory.
"""

from .account import ServerError
from .servers import EmbeddedServers, throw_away_servers

__all__ = ["EmbeddedServers", "ServerError", "throw_away_servers"]
