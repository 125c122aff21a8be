# shellcheck shell=bash
# The checks and tests of the whole tree.

# run_tests [--all] [FILTER]: FILTER picks tests as cargo does.
# run_tests --models: the model client, and an episode, with a real model behind llama.cpp.
# run_tests --parity [all | sample | SUITE:TASK]...: LIBERO against its reference.
# run_tests --runtimes [FILTER]: episodes played by the agents' real command lines.
# run_tests --lerobot, --rerun: what is exported, in the programs it is for.
run_tests() {
  if [[ ${1-} == --parity ]]; then
    test_parity "${@:2}"
    return
  fi
  if [[ ${1-} == --runtimes ]]; then
    test_runtimes "${@:2}"
    return
  fi
  if [[ ${1-} == --lerobot || ${1-} == --rerun ]]; then
    test_export "${1#--}"
    return
  fi
  if [[ ${1-} == --models ]]; then
    test_models
    return
  fi
  if [[ ${1-} == --all ]]; then
    export RUAFLOW_ALL_TASKS=1
    shift
  fi
  cd "$ROOT" || return
  { cargo fmt --version && cargo clippy --version; } >/dev/null 2>&1 ||
    die "rustfmt or clippy is missing" "rustup component add rustfmt clippy"
  check "format" "./rua cargo fmt --all" run_cargo fmt --all --check
  check "clippy" "see above" run_cargo clippy --workspace --all-targets -- -D warnings
  check "features" "ask for them in a normal dependency too" check_features
  check "ruff" ".venv/bin/ruff check --fix; .venv/bin/ruff format" check_python
  [[ -n ${1-} ]] || "$ROOT/tools/tests/run.sh"
  run_cargo test --workspace --no-fail-fast "$@"
}

# Records tasks in the Python reference, plays them in Rust, says what differs.
# A stopped run goes on; what it had found is in $RUAFLOW_HOME/parity.
test_parity() {
  local scripts=$ROOT/nodes/libero/tests/reference
  stands "$REFERENCE" "$(reference_stamp)" ||
    die "the Python reference of LIBERO is not there" "./rua setup --with libero-python"
  cd "$ROOT" || return
  run_cargo build --package libero --example parity
  NUMBA_CACHE_DIR=$RUAFLOW_HOME/cache/numba OPENBLAS_NUM_THREADS=1 LP_NUM_THREADS=1 \
    "$REFERENCE/bin/python" "$scripts/parity.py" --data "$DATA" --out "$RUAFLOW_HOME/parity" \
    --play "$CARGO_TARGET_DIR/release/examples/parity" --jobs "$(nproc)" "$@" </dev/null
}

test_models() {
  set_up_local_model
  cd "$ROOT" || return
  local -x RUAFLOW_LOCAL_MODEL=$LOCAL_MODEL/bin/python
  # Of the workspace: with a package's own, fewer, features all would be compiled anew.
  run_cargo test --workspace --test peers --test local_model -- --ignored
}

# Exports episodes and reads them in the real LeRobot, or by Rerun's own SDK.
test_export() {
  case "$1" in
    lerobot) set_up_lerobot ;;
    rerun) set_up_extras --with rerun ;;
  esac
  cd "$ROOT" || return
  RUAFLOW_LEROBOT=$LEROBOT/bin/python RUAFLOW_RERUN=$RERUN/bin/python \
    run_cargo test --workspace --test export -- --ignored "$1"
}

# Plays episodes by Codex CLI and Claude Code, pinned in tests/runtimes, with a
# model server of ours that plays a script.
test_runtimes() {
  local hint="check the network, then run ./rua test --runtimes again"
  command -v npm >/dev/null || die "npm is missing" "install node 20 or later, which brings it"
  stands "$RUNTIMES" "$(runtimes_stamp)" ||
    { need_space "$RUAFLOW_HOME" 3 && step "agents' command lines" "$hint" make_runtimes; }
  cd "$ROOT" || return
  RUAFLOW_RUNTIMES=$RUNTIMES/node_modules run_cargo test --workspace --test runtimes -- --ignored "$@"
}

RUNTIMES=$RUAFLOW_HOME/runtimes
runtimes_stamp() { echo "1 $(sha256sum <"$ROOT/tests/runtimes/package-lock.json")"; }

# npm runs no script of theirs but the one that puts Claude Code's program in its place.
make_runtimes() {
  rm -rf "$RUNTIMES"
  mkdir -p "$RUNTIMES"
  cp "$ROOT"/tests/runtimes/package{,-lock}.json "$RUNTIMES"
  npm ci --prefix "$RUNTIMES" --ignore-scripts --no-audit --no-fund </dev/null
  node "$RUNTIMES/node_modules/@anthropic-ai/claude-code/install.cjs" </dev/null
  runtimes_stamp >"$RUNTIMES/.stamp"
}

# check NAME MEND COMMAND...
check() {
  say "· $1"
  "${@:3}" || die "$1 found something to mend" "$2"
}

# A dependency that tests want with more features than programs do would be
# compiled twice, and all that depends on it.
check_features() {
  local differing
  local -x LC_ALL=C # comm's and sort's order
  differing=$(comm -23 <(features normal,build) <(features normal,build,dev))
  [[ -z $differing ]] || { echo "$differing" && return 1; }
}

features() {
  cargo tree --workspace --edges "$1" --prefix none --no-dedupe --format '{p} {f}' |
    sed 's/ (\*)$//' | sort -u
}

check_python() {
  ruff check --quiet --no-cache && ruff format --quiet --no-cache --check
}
