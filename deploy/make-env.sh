#!/bin/sh
# Writes the secrets of docker-compose.yml to .env, or to the file that is named, each a random one. What is there already
# stays: secrets that are replaced open nothing that was stored with them.
set -eu
umask 077
file=${1:-.env}
touch "$file"
if [ -n "$(tail -c 1 "$file")" ]; then echo >> "$file"; fi

random() { od -v -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'; }
add() { grep -q "^$1=." "$file" || printf '%s=%s\n' "$1" "$2" >> "$file"; }

add POSTGRES_PASSWORD "s$(random 24)"
add REDIS_PASSWORD "s$(random 24)"
for keys in WEBHOOK_KEYS RANDOMNESS_KEYS; do add "$keys" "$(random 32)"; done
# What checkpoints are signed with: put your host in place of this one before anybody keeps a checkpoint.
add ORRERY_SIGNING_KEY "127.0.0.1:3000+$(random 32)"
for user in GATEWAY CATALOG RUNTIME SCHEDULER CHAIN_PUSHER; do add "NATS_${user}_PASSWORD" "s$(random 24)"; done
