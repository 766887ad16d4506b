import {
  idempotencyTable,
  inboxAttempts,
  inboxHashes,
  inboxMigration,
  type Migrations,
} from '@orrery/database';
import { schedules } from './0004-schedules.js';
import { syncs } from './0006-syncs.js';

/** Once released, a migration is never changed. */
export const migrations: Migrations = {
  '0001_inbox': inboxMigration,
  '0002_inbox_hashes': inboxHashes,
  '0003_inbox_attempts': inboxAttempts,
  '0004_schedules': schedules,
  '0005_idempotency_keys': idempotencyTable,
  '0006_syncs': syncs,
};
