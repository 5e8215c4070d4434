"""Who is here: people, agents, keys, grants, legacies, members, principals."""
