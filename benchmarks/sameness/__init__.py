"""What makes the weights by which statements are told to say the same: see ``train``."""
