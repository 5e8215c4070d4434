"""People, legacies, agents and keys for staff, and what the admins of later rooms build on."""

from .agents import AgentAdmin, AgentKeyAdmin, GrantAdmin
from .owned import OwnedAdmin, moderator
from .people import LegacyAdmin, MemberAdmin, PersonAdmin

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
