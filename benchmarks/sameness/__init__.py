"""Training of the classifier of duplicate statements: see ``train``."""

from benchmarks import set_up_without_servers

# The training pairs are in modules that need Django to be set up when they are imported.
set_up_without_servers()
