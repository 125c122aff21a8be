# shellcheck shell=bash
# Building, and the links in bin/. Clones share one target folder, where cargo
# tells their crates apart only by the age of files: so one clone at a time uses
# it, and first removes what another left there of the workspace's own crates.

BUILT=$ROOT/bin/.built
TARGET_LOCK=$CARGO_TARGET_DIR/ruaflow.lock

set_up() {
  prepare
  build_stands || with_lock "$TARGET_LOCK" build
}

# The workspace has one profile, release, and crates that build on an older
# Rust than they declare; only some subcommands take the flags for it.
run_cargo() {
  local flags=(--ignore-rust-version)
  case "${1-}" in
    b | build | c | check | clippy | d | doc | fix | r | run | rustc | rustdoc | t | test)
      names_profile "$@" || flags+=(--release)
      ;;
    bench | install) ;;
    *)
      cargo "$@"
      return
      ;;
  esac
  with_lock "$TARGET_LOCK" compile "$1" "${flags[@]}" "${@:2}"
}

compile() { claim_target && cargo "$@"; }

claim_target() {
  local owner=$CARGO_TARGET_DIR/ruaflow-clone
  [[ -f $owner && $(<"$owner") == "$ROOT" ]] && return
  [[ ! -d $CARGO_TARGET_DIR/release ]] ||
    cargo clean --quiet --release --workspace --manifest-path "$ROOT/Cargo.toml"
  echo "$ROOT" >"$owner"
}

names_profile() {
  local argument
  for argument; do
    case "$argument" in
      --) return 1 ;;
      -r | --release | --profile | --profile=*) return 0 ;;
    esac
  done
  return 1
}

# cargo looks for the workspace from the current folder upwards.
inside_clone() { [[ $(pwd -P)/ == "$ROOT"/* ]] || cd "$ROOT" || exit; }

# No file is newer than the last build, and its programs are still there.
build_stands() {
  [[ -f $BUILT ]] || return 1
  local built
  mapfile -t built <"$BUILT"
  [[ ${built[0]} == "$RUAFLOW_HOME $CARGO_TARGET_DIR" ]] || return 1
  local program
  for program in "${built[@]:1}"; do
    [[ -e $ROOT/bin/$program ]] || return 1
  done
  # A folder counts too: its time changes when a file in it comes or goes.
  [[ -z $(find "$ROOT" -mindepth 1 \
    \( -name .git -o -name .venv -o -path "$ROOT/bin" -o -path "$ROOT/runs" -o -path "$ROOT/docs" \
    -o -path "$CARGO_TARGET_DIR" -o -name target -o -name '*.png' -o -name '*.mp4' -o -name out -o -name __pycache__ -o -name '.*_cache' \) -prune -o -newer "$BUILT" -print -quit) ]]
}

build() {
  check_rust
  [[ -d $CARGO_TARGET_DIR/release ]] || need_space "$CARGO_TARGET_DIR" 8
  mkdir -p "$ROOT/bin"
  # Dated before the build, so that an edit during it asks for another one.
  echo "$RUAFLOW_HOME $CARGO_TARGET_DIR" >"$BUILT.new"
  local started
  started=$(date --iso-8601=ns)
  step "Rust programs" "./rua doctor lists what is missing; ./rua setup goes on where it stopped" build_programs
  link_programs
  touch --date "$started" "$BUILT.new"
  mv "$BUILT.new" "$BUILT"
}

build_programs() {
  cd "$ROOT" || return
  # The bar is for watch_log; it never shows by itself in a log.
  CARGO_TERM_COLOR=never CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=70 \
    run_cargo build --workspace \
    --message-format json-render-diagnostics >"$CARGO_TARGET_DIR/ruaflow-artifacts.json"
}

# Programs and operators are what cargo puts at the top of release/.
link_programs() {
  local file name
  local -A built=()
  while read -r file; do
    name=${file##*/}
    built[$name]=1
    echo "$name" >>"$BUILT.new"
    [[ $file -ef $ROOT/bin/$name ]] && continue
    # A new name first, then over the old one: a running program keeps its file.
    ln -f "$file" "$ROOT/bin/.$name.new" 2>/dev/null || cp "$file" "$ROOT/bin/.$name.new"
    mv -f "$ROOT/bin/.$name.new" "$ROOT/bin/$name"
  done < <(grep -aoE '"/[^"]*/release/[^/".]+(\.so)?"' "$CARGO_TARGET_DIR/ruaflow-artifacts.json" |
    tr -d '"' | sort -u)
  for file in "$ROOT"/bin/*; do
    [[ -n ${built[${file##*/}]-} ]] || rm -f "$file"
  done
}
