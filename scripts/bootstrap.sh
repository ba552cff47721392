#!/usr/bin/env bash
# Makes this folder ready, then runs a command with the right Node:
#   scripts/bootstrap.sh [--web] [command…]      --web: build the dashboard too
# When nothing is to do it prints nothing, writes nothing and takes under 100 ms.
set -euo pipefail

readonly node_version=24.21.0 # installed when the PATH's Node is older than least_node
readonly least_node=24
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly root=$PWD tools=$PWD/.toolchain
readonly local_node=$tools/node_modules/node/bin

say() { echo "bootstrap: $*" >&2; }
die() { say "$@" && exit 1; }

# The lock is held by the slow path alone. The kernel frees it when its holder dies.
lock() {
  [ -z "${locked:-}" ] || return 0
  mkdir -p "$tools" 2>/dev/null && [ -w "$tools" ] && [ -w "$root" ] ||
    die "$root is not writable by $(id -un); take ownership of it or clone it elsewhere"
  command -v flock >/dev/null || die 'flock is missing; install util-linux'
  { exec 9>"$tools/lock"; } 2>/dev/null || die "$tools/lock is not writable by $(id -un)"
  flock --nonblock 9 || { say 'waiting for another one to finish' && flock 9; }
  locked=yes
}

# Runs npm quietly: npm_quietly <what for> <npm arguments…>
npm_quietly() {
  local what=$1 log=$tools/npm.log && shift
  usable_npm_cache
  (
    trust_system_authorities
    npm "$@" --no-audit --no-fund --no-progress --no-update-notifier
  ) </dev/null >"$log" 2>&1 9>&- && return 0
  tail -n 20 "$log" >&2
  case $(<"$log") in
    *EACCES* | *EPERM*) die "$what failed: a file is not writable by $(id -un), see above" ;;
    *ENOSPC*) die "$what failed: no space left on the disk" ;;
    *ENOTFOUND* | *EAI_AGAIN* | *ETIMEDOUT* | *ECONNREFUSED* | *ECONNRESET*)
      die "$what failed: the package registry cannot be reached" ;;
    *CERT*) die "$what failed: the registry's certificate is not trusted; set NODE_EXTRA_CA_CERTS" ;;
    *EUSAGE*) die "$what failed: package-lock.json does not fit package.json; run npm install" ;;
    *) die "$what failed, see above (whole log: $log)" ;;
  esac
}

# Node trusts its own list of authorities; a network may need one that the machine's owner added.
trust_system_authorities() {
  local bundle=/etc/ssl/certs/ca-certificates.crt
  [ -n "${NODE_EXTRA_CA_CERTS:-}" ] || [ ! -r "$bundle" ] || export NODE_EXTRA_CA_CERTS=$bundle
}

usable_npm_cache() {
  local cache
  cache=$(npm config get cache 2>/dev/null) || cache=
  if [ -z "$cache" ] || ! mkdir -p "$cache/_cacache" 2>/dev/null || [ ! -w "$cache/_cacache" ]; then
    say "npm's cache ${cache:-folder} is not writable by $(id -un); using $tools/npm-cache"
    export npm_config_cache=$tools/npm-cache
  fi
}

node_fits() {
  local version
  version=$(node --version 2>/dev/null) && version=${version#v} && [ "${version%%.*}" -ge "$least_node" ]
}

has_local_node() { [ "$("$local_node/node" --version 2>/dev/null)" = "v$node_version" ]; }

use_node() {
  node_fits && return
  has_local_node && { PATH=$local_node:$PATH && return; }
  lock
  has_local_node && { PATH=$local_node:$PATH && return; } # another one was first
  command -v node >/dev/null && command -v npm >/dev/null ||
    die "no node and npm here; install Node $least_node or newer, or any older one with npm"
  say "installing Node $node_version into .toolchain (the one on the PATH is $(node --version))"
  # A package.json of its own keeps npm from climbing to the project's.
  echo '{"private":true}' >"$tools/package.json"
  rm -rf "$tools/node_modules" "$tools/package-lock.json"
  npm_quietly "installing Node $node_version" install --prefix "$tools" --no-save --ignore-scripts=false \
    "node@$node_version"
  has_local_node || die "Node $node_version does not run on this machine ($(uname -sm))"
  PATH=$local_node:$PATH
}

# Prints one hash over the names and contents of the files that find selects with these arguments.
hash_of() {
  find "$@" -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum | sha256sum | cut -c1-64
}

hash_of_web() {
  hash_of package-lock.json web -type d \( -name node_modules -o -name '.*' -o -path web/build \) -prune \
    -o ! -name '*.test.ts'
}

# is <stamp file> <hash>: whether the stamp says so
is() { [ -f "$1" ] && [ "$(<"$1")" = "$2" ]; }

install_packages() {
  local wanted stamp=$root/node_modules/.lock-sha256
  wanted=$(hash_of package-lock.json)
  is "$stamp" "$wanted" && return
  lock
  is "$stamp" "$wanted" && return
  # After a developer's own `npm install` everything is there already.
  if ! node scripts/bootstrap/is-installed.ts; then
    say 'installing packages (npm ci)'
    # NODE_ENV or a user's settings could leave out what building and testing need.
    npm_quietly 'npm ci' ci --include=dev --include=optional --ignore-scripts=false
  fi
  # Releases share files by hard links: the stamp of another one stays.
  rm -f "$stamp"
  echo "$wanted" >"$stamp"
}

build_web() {
  local wanted stamp=$tools/web.sha256 log=$tools/web-build.log
  grep -q '"build" *:' web/package.json 2>/dev/null || return 0
  wanted=$(hash_of_web)
  is "$stamp" "$wanted" && [ -d web/build ] && return
  lock
  is "$stamp" "$wanted" && [ -d web/build ] && return
  say 'building the dashboard'
  npm run -w web build </dev/null >"$log" 2>&1 9>&- ||
    { tail -n 30 "$log" >&2 && die "building the dashboard failed, see above (whole log: $log)"; }
  [ -d web/build ] || die 'building the dashboard made no web/build'
  echo "$wanted" >"$stamp"
}

web=
[ "${1:-}" = --web ] && web=yes && shift
use_node
export PATH
install_packages
[ -z "$web" ] || build_web
[ $# -eq 0 ] && exit
[ -z "${locked:-}" ] || exec 9>&-
# What a process held, secrets among it, goes into no core file when it falls.
ulimit -c 0
exec "$@"
