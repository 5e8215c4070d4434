"""People, agents, keys, grants, legacies, members, invitations, and the principals of requests."""
