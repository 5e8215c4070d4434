"""The person's agents: what each may see and was shown, narrowing and revoking, and connecting another."""
