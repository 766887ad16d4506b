import {
  inboxAttempts,
  inboxHashes,
  inboxMigration,
  type Migrations,
  outboxMigration,
  outboxShards,
} from '@orrery/database';
import { pushes } from './0004-pushes.js';
import { pushTraces } from './0007-push-traces.js';
import { signerCounts } from './0008-signer-counts.js';

/** Once released, a migration is never changed. */
export const migrations: Migrations = {
  '0001_inbox': inboxMigration,
  '0002_inbox_hashes': inboxHashes,
  '0003_inbox_attempts': inboxAttempts,
  '0004_pushes': pushes,
  '0005_outbox': outboxMigration,
  '0006_outbox_shards': outboxShards,
  '0007_push_traces': pushTraces,
  '0008_signer_counts': signerCounts,
};
