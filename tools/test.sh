# shellcheck shell=bash
# The checks and tests of the whole tree.

# run_tests [--all] [FILTER]: FILTER picks tests as cargo does.
run_tests() {
  if [[ ${1-} == --all ]]; then
    export RUAFLOW_ALL_TASKS=1
    shift
  fi
  cd "$ROOT" || return
  check "format" "./rua cargo fmt --all" run_cargo fmt --all --check
  check "clippy" "see above" run_cargo clippy --workspace --all-targets -- -D warnings
  check "features" "ask for them in a normal dependency too" check_features
  check "ruff" ".venv/bin/ruff check --fix; .venv/bin/ruff format" check_python
  [[ -n ${1-} ]] || "$ROOT/tools/tests/run.sh"
  run_cargo test --workspace --no-fail-fast "$@"
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
