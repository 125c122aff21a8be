# shellcheck shell=bash
# Places, environment, messages, and how a step is run.

# An unset HOME is looked up, so that ~ and cargo mean the same folder.
if [[ -z ${HOME-} ]]; then
  unset HOME
  HOME=~
fi
export HOME

absolute() { [[ $1 == /* ]] && echo "$1" || echo "$PWD/$1"; }
RUAFLOW_HOME=$(absolute "${RUAFLOW_HOME:-$HOME/.cache/ruaflow}")
CARGO_TARGET_DIR=$(absolute "${CARGO_TARGET_DIR:-$RUAFLOW_HOME/target}")
export RUAFLOW_HOME CARGO_TARGET_DIR
export MUJOCO_DYNAMIC_LINK_DIR=$RUAFLOW_HOME/lib
export PYTHONDONTWRITEBYTECODE=1
unset RUST_BACKTRACE # dora would print forty lines after every error

PATH=$ROOT/.venv/bin:$PATH
command -v cargo >/dev/null || PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin
export PATH

say() { printf '%s\n' "$*" >&2; }

# die MESSAGE [HINT]
die() {
  say "✗ $1"
  [[ -z ${2-} ]] || say "  $2"
  exit 1
}

# with_lock FILE COMMAND...: one process at a time, in this clone or another.
with_lock() {
  if [[ ${RUAFLOW_LOCKED-} == "$1" ]]; then # by a caller of ours
    "${@:2}"
    return
  fi
  { mkdir -p "${1%/*}" && [[ -w ${1%/*} ]]; } 2>/dev/null ||
    die "can't write to ${1%/*}" "set RUAFLOW_HOME to a folder you may write to"
  (
    if ! flock --nonblock 9; then
      say "· waiting for another ./rua, which holds $1"
      flock 9
    fi
    export RUAFLOW_LOCKED=$1
    "${@:2}"
  ) 9>"$1"
}

# need_space FOLDER GIB: stops unless that much is free where FOLDER lies.
need_space() {
  local free
  free=$(df --output=avail --block-size=1M "$1" | tail -n 1)
  ((free >= $2 * 1024)) && return
  die "not enough room in $1: $2 GiB needed, $((free / 1024)) GiB free" \
    "make room, or set RUAFLOW_HOME to a folder on a larger disk"
}

# step NAME HINT COMMAND...: runs COMMAND with its output in a log. Shows one
# line; on failure the end of the log and HINT, then exits.
step() {
  local name=$1 hint=$2 start=$SECONDS status watcher
  local log=$RUAFLOW_HOME/logs/${3//_/-}.log
  shift 2
  mkdir -p "$RUAFLOW_HOME/logs"
  : >"$log"
  watch_log "$name" "$log" &
  watcher=$!
  trap 'clear_line; die "stopped; ./rua goes on from here next time"' INT
  # Not `if (...)`: the subshell would then not stop at its first error.
  set +e
  (
    set -e
    "$@"
  ) >"$log" 2>&1
  status=$?
  set -e
  kill "$watcher" 2>/dev/null || true
  wait "$watcher" 2>/dev/null || true
  trap - INT
  clear_line
  if ((status == 0)); then
    say "✓ $name  $((SECONDS - start)) s"
    return
  fi
  say "✗ $name  $((SECONDS - start)) s"
  log_text "$log" | tail -n 15 | sed 's/^/    /' >&2
  say "  log: $log"
  die "$hint"
}

# The log as lines, without the bars that cargo redraws over themselves.
log_text() { tr '\r' '\n' <"$1" | grep -av '^ *Building \[\|^ *$' || true; }

clear_line() { [[ ! -t 2 ]] || printf '\r\e[K' >&2; }

# Says that a step began and, on a terminal, follows the last line of its log.
watch_log() {
  [[ -t 2 ]] || { say "· $1 ..." && return; }
  local width line
  width=$(stty size <&2 2>/dev/null | cut -d ' ' -f 2)
  while [[ -d /proc/$$ ]]; do
    line="· $1  $(tail -c 2000 "$2" | tr '\r\t' '\n ' | grep -a '[^ ]' | tail -n 1 || true)"
    printf '\r\e[K%s' "${line:0:$((${width:-80} - 1))}" >&2
    sleep 0.3
  done
}
