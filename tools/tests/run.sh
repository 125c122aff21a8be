#!/usr/bin/env bash
# Tests of the launcher on a clone in small (fixture.py): with the real bash,
# cargo and pip, and without the network. The tests build on one another.
set -euo pipefail

SOURCE=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
chmod 755 "$WORK"
CLONE=$WORK/clone
export PIP_NO_INDEX=1 PIP_FIND_LINKS=$WORK/wheels CARGO_NET_OFFLINE=true
unset RUAFLOW_HOME CARGO_TARGET_DIR VIRTUAL_ENV
export CARGO_HOME=${CARGO_HOME:-$HOME/.cargo} RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
export HOME="$WORK/a home" RUAFLOW="$WORK/a home/.cache/ruaflow"
OUTPUT=$WORK/output

make_clone() {
  mkdir -p "$1"
  cp -a "$SOURCE/rua" "$SOURCE/tools" "$1"
  python3 "$SOURCE/tools/tests/fixture.py" "$1" "$WORK/wheels"
}

# Runs the launcher; what it prints is in $OUTPUT.
rua() { "$CLONE/rua" "$@" >"$OUTPUT" 2>&1; }
fails() { if "$@"; then return 1; fi; }
prints() { grep -q -- "$1" "$OUTPUT"; }
inode() { stat --format %i "$1"; }

test_first_set_up_installs_and_builds() {
  rua setup
  [[ $(readlink "$RUAFLOW/lib/libmujoco.so") == libmujoco.so.3 ]]
  [[ -f $RUAFLOW/lib/libonnxruntime.so && -f $RUAFLOW/lib/licenses/mujoco/LICENSE ]]
  [[ ! -e $RUAFLOW/lib/mujoco && ! -e $RUAFLOW/data/libero.new ]]
  [[ -f $RUAFLOW/data/libero/robosuite/models/assets/robots/panda/robot.xml ]]
  [[ ! -e $RUAFLOW/data/libero/robosuite/models/assets/robots/sawyer ]]
  [[ -x $CLONE/bin/rua && -x $CLONE/bin/node && -f $CLONE/bin/liboperator.so ]]
  [[ $CLONE/bin/rua -ef $RUAFLOW/target/release/rua ]]
}

test_second_set_up_does_nothing_in_two_seconds() {
  local start=${EPOCHREALTIME/./}
  rua setup
  ((${EPOCHREALTIME/./} - start < 2000000))
  [[ $(<"$OUTPUT") == "✓ everything is in place" ]]
}

test_doctor_is_content() {
  rua doctor
  prints "✓ LIBERO-PRO scenes"
  prints "✓ bin/node"
  fails prints "✗"
}

test_doctor_sees_a_changed_file() {
  echo changed >>"$RUAFLOW/lib/libmujoco.so.3"
  fails rua doctor
  prints "✗ C libraries: ./libmujoco.so.3: FAILED"
  prints "mend: rm -rf $RUAFLOW/lib; ./rua setup"
  rm -r "${RUAFLOW:?}/lib"
  rua setup
  rua doctor
}

test_interrupted_download_goes_on() {
  local lib
  lib=$(inode "$RUAFLOW/lib")
  rm "$RUAFLOW/data/libero/.stamp"
  mkdir "$RUAFLOW/data/libero.new"
  echo half >"$RUAFLOW/data/libero.new/half"
  mkdir -p "$RUAFLOW/wheels/requirements-data"
  echo half >"$RUAFLOW/wheels/requirements-data/robosuite-1-py3-none-any.whl"
  rua setup
  [[ ! -e $RUAFLOW/data/libero.new && ! -e $RUAFLOW/data/libero/half ]]
  [[ -f $RUAFLOW/data/libero/libero/scene.bddl ]]
  [[ $(inode "$RUAFLOW/lib") == "$lib" ]]
}

test_killed_set_up_goes_on() {
  rm -rf "$RUAFLOW/data" "${CLONE:?}/bin"
  "$CLONE/rua" setup >"$OUTPUT" 2>&1 &
  local launcher=$!
  until [[ -d $RUAFLOW/data/libero.new ]]; do sleep 0.02; done
  kill -KILL "$launcher"
  wait "$launcher" 2>/dev/null || true
  rua setup
  [[ -f $RUAFLOW/data/libero/libero/scene.bddl && -x $CLONE/bin/rua ]]
}

test_changed_pin_installs_that_part_only() {
  local lib data
  lib=$(inode "$RUAFLOW/lib") data=$(inode "$RUAFLOW/data/libero")
  echo "# changed" >>"$CLONE/requirements-data.txt"
  rua setup
  [[ $(inode "$RUAFLOW/lib") == "$lib" && $(inode "$RUAFLOW/data/libero") != "$data" ]]
}

test_wrong_download_is_refused() {
  cp "$CLONE/requirements-data.txt" "$WORK/requirements"
  sed -i 's/sha256:..../sha256:0000/' "$CLONE/requirements-data.txt"
  fails rua setup
  prints "✗ LIBERO-PRO scenes"
  prints "DO NOT MATCH THE HASHES"
  prints "check the network"
  [[ -f $RUAFLOW/data/libero/libero/scene.bddl ]]
  mv "$WORK/requirements" "$CLONE/requirements-data.txt"
  rua setup
}

test_arguments_and_folder_are_the_callers() {
  ln -s "$CLONE/rua" "$WORK/link"
  mkdir -p "$WORK/somewhere"
  (cd "$WORK/somewhere" && RUST_BACKTRACE=1 ../link play "a b" >"$OUTPUT")
  prints "^$CLONE/crates/rua$"
  prints "^play a b $WORK/somewhere$"
  prints "^None$"
}

test_edit_is_built() {
  sed -i 's/"{} {}"/"edited {} {}"/' "$CLONE/crates/rua/src/main.rs"
  rua play
  prints "^edited play"
}

test_program_that_went_is_removed() {
  rm -r "$CLONE/crates/node"
  rua setup
  [[ ! -e $CLONE/bin/node && -x $CLONE/bin/rua ]]
}

test_failed_build_says_how_to_mend() {
  echo 'fn broken() -> u8 {}' >>"$CLONE/crates/rua/src/main.rs"
  fails rua setup
  prints "error\[E0308\]"
  prints "log: $RUAFLOW/logs/build-programs.log"
  sed -i '$d' "$CLONE/crates/rua/src/main.rs"
  rua setup
}

test_clones_that_set_up_at_once_keep_their_own_programs() {
  make_clone "$WORK/other"
  cp "$CLONE/requirements-data.txt" "$WORK/other"
  touch "$CLONE/crates/rua/src/main.rs"
  "$WORK/other/rua" setup >"$WORK/other.output" 2>&1 &
  rua setup
  wait $!
  rua one
  prints "^$CLONE/crates/rua$"
  "$WORK/other/rua" two >"$OUTPUT" 2>&1
  prints "^$WORK/other/crates/rua$"
  rua setup
  "$CLONE/bin/rua" >"$OUTPUT"
  prints "^$CLONE/crates/rua$"
}

test_home_may_be_unset_and_lack_a_cache() {
  env -u HOME RUAFLOW_HOME="$RUAFLOW" "$CLONE/rua" play >"$OUTPUT"
  prints "^edited play"
  [[ $(env -u HOME bash -c "ROOT=$CLONE; source $CLONE/tools/common.sh; echo \$RUAFLOW_HOME") == "$(getent passwd "$(id -u)" | cut -d : -f 6)/.cache/ruaflow" ]]
}

test_cargo_gets_the_flags_it_takes() {
  mkdir -p "$WORK/stub"
  printf '#!/bin/sh\necho "$*"\n' >"$WORK/stub/cargo"
  chmod +x "$WORK/stub/cargo"
  PATH=$WORK/stub:$PATH rua cargo build -p rua
  prints "^build --ignore-rust-version --release -p rua$"
  PATH=$WORK/stub:$PATH rua cargo run --profile release -- --release
  prints "^run --ignore-rust-version --profile release -- --release$"
  PATH=$WORK/stub:$PATH rua cargo tree
  prints "^tree$"
}

test_old_or_missing_rust_is_said() {
  printf '#!/bin/sh\necho cargo 1.80.1\n' >"$WORK/stub/cargo"
  touch "$CLONE/crates/rua/src/main.rs"
  PATH=$WORK/stub:$PATH fails rua setup
  prints "Rust 1.95 or later is needed, cargo is 1.80.1"
  rm "$WORK/stub/cargo"
  rua setup
}

test_full_disk_is_said_before_anything_is_loaded() {
  printf '#!/bin/sh\necho Avail\necho 100\n' >"$WORK/stub/df"
  chmod +x "$WORK/stub/df"
  PATH=$WORK/stub:$PATH RUAFLOW_HOME=$WORK/full fails rua setup
  prints "not enough room in $WORK/full: 1 GiB needed, 0 GiB free"
  rm "$WORK/stub/df"
}

test_folder_that_may_not_be_written_is_said() {
  RUAFLOW_HOME=/proc/ruaflow fails rua setup
  prints "✗ can't write to /proc/ruaflow"
}

# The system part alone, on a machine that lacks EGL.
without_egl() {
  "$@" bash -c "set -euo pipefail; ROOT=$CLONE; source $CLONE/tools/common.sh; source $CLONE/tools/system.sh
    missing_packages() { echo libegl1; }
    check_system" >"$OUTPUT" 2>&1
}

test_root_installs_debian_packages() {
  printf '#!/bin/sh\necho "$*" >>%s/apt\n' "$WORK" >"$WORK/stub/apt-get"
  printf '#!/bin/sh\nexit 1\n' >"$WORK/stub/sudo"
  chmod +x "$WORK/stub/apt-get" "$WORK/stub/sudo"
  ((EUID == 0)) || return 0
  PATH=$WORK/stub:$PATH without_egl env
  grep -q "^install --yes --no-install-recommends libegl1$" "$WORK/apt"
}

test_others_are_told_the_one_command() {
  local user=()
  ((EUID != 0)) || user=(setpriv --reuid 65534 --clear-groups)
  PATH=$WORK/stub:$PATH fails without_egl "${user[@]}" env
  prints "sudo apt-get install libegl1"
}

make_clone "$CLONE"
passed=0 failed=0
for name in $(declare -F | grep -o 'test_.*' | while read -r test; do
  echo "$(grep -n "^$test()" "${BASH_SOURCE[0]}" | cut -d : -f 1) $test"
done | sort -n | cut -d ' ' -f 2); do
  # Not `if (...)`: the subshell would then not stop at its first error.
  set +e
  (
    set -e
    "$name"
  )
  status=$?
  set -e
  if ((status == 0)); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name; the launcher's last words:"
    sed 's/^/    /' "$OUTPUT"
  fi
done
echo "launcher: $passed passed, $failed failed"
((failed == 0))
