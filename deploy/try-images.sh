#!/bin/sh
# Builds the images, starts the compose file, executes once through it, and removes all of it again: for a machine with a
# container engine. Says which step failed, and ends with 1 then.
#   sh deploy/try-images.sh            # docker with compose v2 or 1.29, or podman with podman-compose
#   NODE_IMAGE=… sh deploy/try-images.sh
set -eu
cd "$(dirname "$0")/.."

engine=$(command -v docker || command -v podman) || { echo 'no engine: install docker or podman'; exit 1; }
if "$engine" compose version >/dev/null 2>&1; then compose="$engine compose"
else compose=$(command -v docker-compose || command -v podman-compose) || { echo 'no compose: install docker-compose'; exit 1; }
fi
step() { echo "== $*"; "$@" || { echo "FAILED: $*"; exit 1; }; }

folder=$(mktemp -d)
project=orrery-try-$$
trap '$compose -p "$project" --env-file "$folder/env" down --volumes --timeout 20 >/dev/null 2>&1 || true; rm -rf "$folder"' EXIT
sh deploy/make-env.sh "$folder/env"
run() { $compose -p "$project" --env-file "$folder/env" "$@"; }

step "$engine" info --format '{{.ServerVersion}}'
for target in gateway catalog runtime scheduler chain-pusher orrery; do
  name=orrery-$target
  if [ "$target" = orrery ]; then name=orrery-command; fi
  step "$engine" build -q -f deploy/Dockerfile --target "$target" -t "$name" ${NODE_IMAGE:+--build-arg "NODE_IMAGE=$NODE_IMAGE"} .
  echo "$name: $("$engine" image inspect --format '{{.Size}} bytes, user {{.Config.User}}' "$name")"
done
step run up -d --scale gateway=2 --scale runtime=2

for attempt in $(seq 120); do
  if curl -fsS http://127.0.0.1:3000/readyz >/dev/null 2>&1; then break; fi
  if [ "$attempt" = 120 ]; then run ps; run logs --tail 20; echo 'FAILED: not ready within 120 s'; exit 1; fi
  sleep 1
done
key=$(run run --rm migrate keys create --name try | grep -o 'orrery_[A-Za-z0-9_]*')
answer=$(curl -fsS http://127.0.0.1:3000/api/worlds -H "Authorization: Bearer $key" -H 'Content-Type: application/json' -d '{"name":"Tried"}')
echo "$answer"
case $answer in *'"success":true'*) echo 'the images run' ;; *) echo 'FAILED: no world was made'; exit 1 ;; esac
