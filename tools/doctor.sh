# shellcheck shell=bash
# Each requirement with what was found; changes nothing.

doctor() {
  local failed=0 program
  requirement "Rust" "install it from https://rustup.rs, or run: rustup update stable" rust_version
  requirement "C compiler" "install gcc and libc6-dev" compiler_version
  requirement "C++ compiler" "install g++" cpp_compiler_version
  requirement "EGL" "install libegl1" has_library libEGL.so.1
  requirement "OpenGL driver" "install libgl1-mesa-dri" has_gl_driver
  requirement "Python" "install python3 (3.11 or later) and python3-venv" python_version
  requirement "Python environment" "rm -rf .venv; ./rua setup" venv_versions
  requirement "C libraries" "rm -rf $LIB; ./rua setup" intact "$LIB" "$(lib_stamp)"
  requirement "LIBERO-PRO scenes" "rm -rf $DATA; ./rua setup" intact "$DATA" "$(data_stamp)"
  requirement "programs" "./rua setup" programs_stand
  for program in "$ROOT"/bin/*; do
    [[ ! -x $program || $program == *.so ]] ||
      requirement "bin/${program##*/}" "rm -rf bin; ./rua setup" program_version "$program"
  done
  sandbox || failed=1
  return "$failed"
}

# The walls around a cell on this machine. One that the kernel does not offer is
# told, and no failure; an attempt that gets through is one.
sandbox() {
  local sign wall layers failed=0
  [[ -x $ROOT/bin/cell-runner ]] || return 0
  layers=$(timeout 60 "$ROOT/bin/cell-runner" --layers 2>&1) || failed=1
  while read -r sign wall; do
    case $sign in
      +) say "✓ sandbox, $wall" ;;
      -) say "– sandbox, $wall (docs/sandbox.md says what remains)" ;;
      *) ((!failed)) || say "✗ sandbox: $sign $wall" ;;
    esac
  done <<<"$layers"
  return "$failed"
}

# requirement NAME MEND COMMAND...: COMMAND prints what it found, or fails.
requirement() {
  local found
  if found=$("${@:3}" 2>&1); then
    say "✓ $1: $(head -n 1 <<<"$found")"
  else
    say "✗ $1: ${found:-not found}"
    say "  mend: $2"
    failed=1
  fi
}

rust_version() { (check_rust) && cargo --version; }
compiler_version() { has_compiler >/dev/null && cc --version; }
cpp_compiler_version() { has_cpp_compiler >/dev/null && c++ --version; }
python_version() { find_python >/dev/null && "$(find_python)" --version; }

venv_versions() {
  venv_stands || { echo "missing, or older than requirements.txt" && return 1; }
  "$VENV/bin/python" -c 'import dora, pyarrow; print(f"node API {dora.__version__}, pyarrow {pyarrow.__version__}")' &&
    "$VENV/bin/dora" --version
}

# intact FOLDER STAMP: every file as it was when installed.
intact() {
  stands "$1" "$2" || { echo "missing, or older than its requirements file" && return 1; }
  (cd "$1" && sha256sum --check --quiet SHA256SUMS) && du -sh "$1"
}

programs_stand() {
  build_stands || { echo "missing, or older than the sources" && return 1; }
  echo "$CARGO_TARGET_DIR"
}

# As dora starts them: without LD_LIBRARY_PATH.
program_version() { env -u LD_LIBRARY_PATH timeout 10 "$1" --version; }
