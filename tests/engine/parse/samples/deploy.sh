#!/usr/bin/env bash
# Deploys the service to a host.
set -euo pipefail

source ./lib/log.sh
. "$(dirname "$0")/lib/retry.sh"
source /etc/profile.d/deploy.sh

readonly APP_NAME="shop"
declare -r MAX_RETRIES=5
export DEPLOY_ROOT=/srv/app
declare -A HOSTS=([prod]=web1 [stage]=web2)
REGION=eu
alias ll='ls -l'

# Prints how to use this script.
# Goes to stderr.
usage() {
  cat >&2 <<EOF
usage: $0 HOST
fake_call inside a here document
EOF
}

## Packs the build into an archive.
function build_archive {
  local target="$1"
  local -r name="$APP_NAME-$(git describe --tags)"
  mkdir -p "$target"
  tar czf "$target/$name.tgz" dist || die "cannot pack" 2
  echo "$name"
}

function upload() {
  local host=$1 archive=$2
  retry "$MAX_RETRIES" scp "$archive" "$host:$DEPLOY_ROOT"
  if ! remote_check "$host"; then
    log::error "upload failed"
    return 1
  fi
}

remote_check() ( ssh "$1" true )

log::error() {
  printf '%s\n' "$*" >&2
}

main() {
  local host="${1:-}"
  [[ -z $host ]] && { usage; exit 2; }
  local archive
  archive=$(build_archive /tmp/build)
  for stage in "${!HOSTS[@]}"; do
    upload "${HOSTS[$stage]}" "$archive" &
  done
  wait
  trap cleanup EXIT
}

cleanup() { rm -rf /tmp/build; }

main "$@"
