#!/usr/bin/env bash
# Prepares this folder, then runs a command with the required Node.js version:
#   scripts/bootstrap.sh [--web | --run] [command…]
#     --web: also build the dashboard
#     --run: start the command with the packages that the service needs; install the other packages and build the
#            dashboard in the background
# If everything is up to date, prints and writes nothing and takes less than 100 ms.
set -euo pipefail

readonly node_version=24.21.0 # installed when the PATH's Node is older than least_node
readonly least_node=24
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly root=$PWD tools=$PWD/.toolchain
readonly local_node=$tools/node_modules/node/bin

say() { echo "bootstrap: $*" >&2; }
die() { say "$@" && exit 1; }

# Only the slow path takes the lock. The kernel releases the lock when the process that holds it exits.
lock() {
  [ -z "${locked:-}" ] || return 0
  mkdir -p "$tools" 2>/dev/null && [ -w "$tools" ] && [ -w "$root" ] ||
    die "$root is not writable by $(id -un); take ownership of it or clone it elsewhere"
  command -v flock >/dev/null || die 'flock is missing; install util-linux'
  { exec 9>"$tools/lock"; } 2>/dev/null || die "$tools/lock is not writable by $(id -un)"
  flock --nonblock 9 || { say 'waiting for another one to finish' && flock 9; }
  locked=yes
}

# Runs npm without its output: npm_quietly <what for> <npm arguments…>
npm_quietly() {
  local what=$1 log=$tools/${1// /-}.log && shift
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

# Node.js has its own list of certificate authorities. It lacks authorities that were added to the machine.
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
  has_local_node && { PATH=$local_node:$PATH && return; } # another process has installed Node.js in the meantime
  command -v node >/dev/null && command -v npm >/dev/null ||
    die "no node and npm here; install Node $least_node or newer, or any older one with npm"
  say "installing Node $node_version into .toolchain (the one on the PATH is $(node --version))"
  # A separate package.json keeps npm from using the project's package.json.
  echo '{"private":true}' >"$tools/package.json"
  rm -rf "$tools/node_modules" "$tools/package-lock.json"
  npm_quietly "installing Node $node_version" install --prefix "$tools" --no-save --ignore-scripts=false \
    "node@$node_version"
  has_local_node || die "Node $node_version does not run on this machine ($(uname -sm))"
  PATH=$local_node:$PATH
}

# Prints one hash of the names and contents of the files that find selects with these arguments.
hash_of() {
  find "$@" -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum | sha256sum | cut -c1-64
}

hash_of_web() {
  hash_of package-lock.json web -type d \( -name node_modules -o -name '.*' -o -path web/build -o -path web/e2e \) -prune \
    -o ! -name '*.test.ts' ! -name '*.d.ts'
}

# is <stamp file> <hash>: succeeds if the stamp file contains this hash
is() { [ -f "$1" ] && [ "$(<"$1")" = "$2" ]; }

readonly packages_stamp=$root/node_modules/.lock-sha256 # all packages
readonly service_stamp=$root/node_modules/.lock-sha256-service # packages that the service needs
readonly web_stamp=$tools/web.sha256

# install_packages [service]: installs all packages, or at least those that the service needs
install_packages() {
  local wanted
  wanted=$(hash_of package-lock.json)
  has_packages "$@" && return
  lock
  has_packages "$@" && return
  # NODE_ENV or the user's npm settings could omit packages that building and testing need.
  local with=(--include=optional --ignore-scripts=false)
  if [ -d node_modules ] && node scripts/bootstrap/is-installed.ts; then
    : # A developer has already installed everything with `npm install`.
  elif [ "${1:-}" = service ]; then
    say 'installing packages (npm ci)'
    npm_quietly 'npm ci' ci --omit=dev --workspaces=false "${with[@]}"
    echo "$wanted" >"$service_stamp"
    return
  elif is "$service_stamp" "$wanted"; then
    # The service may be running with these packages, and npm ci would remove them first.
    say 'installing the packages for the dashboard and the tests (npm install)'
    npm_quietly 'npm install' install --no-save --include=dev "${with[@]}"
  else
    say 'installing packages (npm ci)'
    npm_quietly 'npm ci' ci --include=dev "${with[@]}"
  fi
  # Removes the stamp first, because releases share files through hard links, and other releases' stamps must not
  # change.
  rm -f "$packages_stamp"
  echo "$wanted" >"$packages_stamp"
}

# has_packages [service]: compares the stamps with the expected hash in $wanted
has_packages() {
  is "$packages_stamp" "$wanted" || { [ "${1:-}" = service ] && is "$service_stamp" "$wanted"; }
}

build_web() {
  local wanted log=$tools/web-build.log
  has_web && return
  lock
  has_web && return
  wanted=$(hash_of_web)
  say 'building the dashboard'
  npm run -w web build </dev/null >"$log" 2>&1 9>&- ||
    { tail -n 30 "$log" >&2 && die "building the dashboard failed, see above (whole log: $log)"; }
  [ -d web/build ] || die 'building the dashboard made no web/build'
  echo "$wanted" >"$web_stamp"
}

has_web() {
  grep -q '"build" *:' web/package.json 2>/dev/null || return 0
  [ -d web/build ] && is "$web_stamp" "$(hash_of_web)"
}

what=
case ${1:-} in --web | --run) what=$1 && shift ;; esac
# The first start installs Node and the packages concurrently.
if [ "$what" = --run ] && command -v npm >/dev/null && ! node_fits && ! has_local_node && [ ! -d node_modules ]; then
  lock
  use_node &
  getting_node=$!
  install_packages service
  wait "$getting_node" || exit 1
fi
use_node
export PATH
case $what in
  --web) install_packages; build_web ;;
  --run) install_packages service ;;
  *) install_packages ;;
esac
[ -z "${locked:-}" ] || exec 9>&-
# Builds the dashboard in a detached background process with low priority, after the service has started.
[ "$what" != --run ] || has_web || (sleep 10 && nice -n 10 scripts/bootstrap.sh --web </dev/null >&2 &)
[ $# -gt 0 ] || exit 0
# Disables core files, which could contain secrets of a crashed process.
ulimit -c 0
exec "$@"
