"""The agent's side: summarise, extract, prepare the next turn."""
