"""How quickly Keepsake works, measured on a machine of your own."""

import os

# As in Keepsake's own processes (memory_project), but also where peers run, which have none of its code.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
