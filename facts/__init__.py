"""Facts about legacies: what members say, with versions, evidence, links and visibility."""
