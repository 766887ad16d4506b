import { inboxAttempts, inboxHashes, inboxMigration, type Migrations } from '@orrery/database';

/** Once released, a migration is never changed. */
export const migrations: Migrations = {
  '0001_inbox': inboxMigration,
  '0002_inbox_hashes': inboxHashes,
  '0003_inbox_attempts': inboxAttempts,
};
