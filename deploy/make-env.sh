#!/bin/sh
# Writes the secrets of docker-compose.yml, each a random one:  sh deploy/make-env.sh > .env
set -eu
secret() { printf '%s=s%s\n' "$1" "$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')"; }
secret POSTGRES_PASSWORD
secret REDIS_PASSWORD
for keys in WEBHOOK_KEYS RANDOMNESS_KEYS; do
  printf '%s=%s\n' "$keys" "$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')"
done
# What checkpoints are signed with: put your host in place of this one before anybody keeps a checkpoint.
printf 'ORRERY_SIGNING_KEY=127.0.0.1:3000+%s\n' "$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')"
for user in GATEWAY CATALOG RUNTIME SCHEDULER CHAIN_PUSHER; do secret "NATS_${user}_PASSWORD"; done
