import {
  idempotencyTable,
  inboxAttempts,
  inboxHashes,
  inboxMigration,
  type Migrations,
} from '@orrery/database';
import { schedules } from './0004-schedules.js';
import { syncs } from './0006-syncs.js';
import { withoutInbox } from './0007-without-inbox.js';
import { deletedDeployments } from './0008-deleted-deployments.js';

/** Once released, a migration is never changed. */
export const migrations: Migrations = {
  '0001_inbox': inboxMigration,
  '0002_inbox_hashes': inboxHashes,
  '0003_inbox_attempts': inboxAttempts,
  '0004_schedules': schedules,
  '0005_idempotency_keys': idempotencyTable,
  '0006_syncs': syncs,
  '0007_without_inbox': withoutInbox,
  '0008_deleted_deployments': deletedDeployments,
};
