import { type Migrations, outboxMigration, outboxShardIndex, outboxShards } from '@orrery/database';
import { accounts } from './0001-accounts.js';
import { signIn } from './0002-sign-in.js';
import { signInCodes } from './0006-sign-in-codes.js';
import { madeKeys } from './0007-made-keys.js';

/** In order; a released one is never changed. */
export const migrations: Migrations = {
  '0001_accounts': accounts,
  '0002_sign_in': signIn,
  '0003_outbox': outboxMigration,
  '0004_outbox_shards': outboxShards,
  '0005_outbox_shard_index': outboxShardIndex,
  '0006_sign_in_codes': signInCodes,
  '0007_made_keys': madeKeys,
};
