"""People, legacies, agents and keys for staff, and what the admins of later rooms build on."""

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
