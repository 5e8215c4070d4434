"""What makes the weights by which statements are told to say the same: see ``train``."""

from benchmarks import set_up_without_servers

# What is learned from is read by modules that need Django to be set up when they are imported.
set_up_without_servers()
