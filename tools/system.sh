# shellcheck shell=bash
# What the machine itself must have. Asked by ability, not by package, so that
# clang, a vendor's GL driver or another Python are as good as Debian's.

RUST_NEEDED=1.95

has_compiler() { command -v cc && [[ -e /usr/include/stdlib.h ]]; }

# The video encoder, openh264, is built from its C++ source.
has_cpp_compiler() { c++ -x c++ -E -include cstddef /dev/null -o /dev/null; }

has_library() { PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -m 1 -o "$1"; }

# Mesa's software rasterizer, as Debian 12 and as later ones ship it, or a vendor's.
has_gl_driver() { compgen -G '/usr/lib*/**/dri/swrast_dri.so' || has_library 'libgallium-.*\.so\|libEGL_nvidia\.so\.0'; }

# find_python [LEAST]: the first Python of that version or later, 3.11 by default,
# that can make an environment.
find_python() {
  local python least=${1:-3.11}
  local PATH=${PATH#"$ROOT/.venv/bin:"}
  for python in python3 python3.14 python3.13 python3.12 python3.11; do
    if "$python" -c "import sys, venv, ensurepip; sys.exit(sys.version_info < (${least/./, }))" 2>/dev/null; then
      command -v "$python"
      return
    fi
  done
  return 1
}

missing_packages() {
  has_compiler >/dev/null || echo gcc libc6-dev
  has_cpp_compiler >/dev/null || echo g++
  has_library libEGL.so.1 >/dev/null || echo libegl1
  has_gl_driver >/dev/null || echo libgl1-mesa-dri
  [[ -x $ROOT/.venv/bin/python ]] || find_python >/dev/null || echo python3 python3-venv
}

install_packages() {
  "${SUDO[@]}" apt-get update || true # an old list may do
  "${SUDO[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --no-install-recommends "$@"
}

check_system() {
  [[ $(uname -s) == Linux ]] || die "RuaFlow runs on Linux"
  local packages
  read -ra packages <<<"$(missing_packages | tr '\n' ' ')"
  if ((${#packages[@]})); then
    SUDO=()
    command -v apt-get >/dev/null ||
      die "missing: what Debian calls ${packages[*]}" "install your distribution's packages for it"
    if ((EUID != 0)); then
      SUDO=(sudo -n)
      sudo -n true 2>/dev/null ||
        die "Debian packages are missing; run:" "sudo apt-get install ${packages[*]}"
    fi
    step "Debian packages: ${packages[*]}" "run: apt-get install ${packages[*]}" \
      install_packages "${packages[@]}"
    [[ " ${packages[*]} " != *' python3 '* ]] || find_python >/dev/null ||
      die "Python 3.11 or later is needed, with venv" "put one on PATH, as python3 or python3.11"
  fi
}

# Stops unless cargo is there and recent; a toolchain is the user's own to install.
check_rust() {
  local found
  found=$(cargo --version 2>/dev/null | cut -d ' ' -f 2) || true
  [[ -n $found ]] || die "Rust $RUST_NEEDED or later is needed" "install it from https://rustup.rs"
  [[ $(printf '%s\n' "$RUST_NEEDED" "$found" | sort -V | head -n 1) == "$RUST_NEEDED" ]] ||
    die "Rust $RUST_NEEDED or later is needed, cargo is $found" "run: rustup update stable"
}
