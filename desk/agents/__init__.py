"""Pages of agents: permissions, disclosures, revoking, connecting."""
