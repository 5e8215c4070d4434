"""Training of the vector classifiers. It needs no database."""

from benchmarks import set_up_without_servers

# The grammar's cues are read with the settings.
set_up_without_servers()
