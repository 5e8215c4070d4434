"""Changes to people, agents, keys, grants, preferences, legacies and members: all the writing of this room."""

from .agents import (
    agent_create,
    agent_key_create,
    agent_key_revoke,
    grant_set,
    principal_for_key,
)
from .invitations import (
    invitation_accept,
    invitation_block,
    invitation_decline,
    invitation_find,
    invitation_revoke,
    invitation_unblock,
    invitations_tidy,
    member_invite,
)
from .legacies import (
    Sent,
    legacy_close,
    legacy_create,
    legacy_rename,
    legacy_reopen,
    member_detach,
    member_set_role,
    members_before,
    must_own,
)
from .linking import identity_link, identity_unlink, link_code_create, link_code_withdraw
from .people import identity_rename, password_change, preferences_set, user_create, user_resolve, user_set_active
from .pictures import legacy_picture_remove, legacy_picture_set

__all__ = [
    "Sent",
    "agent_create",
    "agent_key_create",
    "agent_key_revoke",
    "grant_set",
    "identity_link",
    "identity_rename",
    "identity_unlink",
    "invitation_accept",
    "invitation_block",
    "invitation_decline",
    "invitation_find",
    "invitation_revoke",
    "invitation_unblock",
    "invitations_tidy",
    "legacy_close",
    "legacy_create",
    "legacy_picture_remove",
    "legacy_picture_set",
    "legacy_rename",
    "legacy_reopen",
    "link_code_create",
    "link_code_withdraw",
    "member_detach",
    "member_invite",
    "member_set_role",
    "members_before",
    "must_own",
    "password_change",
    "preferences_set",
    "principal_for_key",
    "user_create",
    "user_resolve",
    "user_set_active",
]
