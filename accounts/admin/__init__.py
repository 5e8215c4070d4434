"""Staff pages of people, legacies, agents and keys, and base classes for the admins of later rooms."""

from .agents import AgentAdmin, AgentKeyAdmin, GrantAdmin
from .people import LegacyAdmin, MemberAdmin, OwnedAdmin, PersonAdmin, moderator

__all__ = [
    "AgentAdmin",
    "AgentKeyAdmin",
    "GrantAdmin",
    "LegacyAdmin",
    "MemberAdmin",
    "OwnedAdmin",
    "PersonAdmin",
    "moderator",
]
