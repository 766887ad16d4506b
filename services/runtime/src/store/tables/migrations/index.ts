import { idempotencyTable, outboxMigration, outboxShardIndex, outboxShards } from '@orrery/database';
import type { Migration } from 'kysely/migration';
import { ownership } from './0001-ownership.js';
import { deployments } from './0002-deployments.js';
import { instances } from './0003-instances.js';
import { journal } from './0004-journal.js';
import { runs } from './0007-runs.js';
import { accounts } from './0008-accounts.js';
import { newEntries } from './0009-new-entries.js';
import { newRows } from './0010-new-rows.js';
import { commitRows } from './0011-commit-rows.js';
import { onceKeys } from './0012-once-keys.js';
import { claimRevisions } from './0013-claim-revisions.js';
import { operatorPauses } from './0015-operator-pauses.js';
import { payments } from './0017-payments.js';
import { lifecycleIndex } from './0018-lifecycle-index.js';
import { aiUsage } from './0019-ai-usage.js';
import { lifetimes } from './0020-lifetimes.js';
import { onceKeyEntries } from './0021-once-key-entries.js';
import { acknowledgedOccurrences } from './0022-acknowledged-occurrences.js';
import { awaitedPayments } from './0023-awaited-payments.js';
import { published } from './0024-published.js';
import { notExecutions } from './0025-not-executions.js';
import { entriesOfVersion2 } from './0026-entries-of-version-2.js';

/** In the order of their names; one that has been released is never changed. */
export const migrations: Record<string, Migration> = {
  '0001_ownership': ownership,
  '0002_deployments': deployments,
  '0003_instances': instances,
  '0004_journal': journal,
  '0005_outbox': outboxMigration,
  '0006_idempotency_keys': idempotencyTable,
  '0007_runs': runs,
  '0008_accounts': accounts,
  '0009_new_entries': newEntries,
  '0010_new_rows': newRows,
  '0011_commit_rows': commitRows,
  '0012_once_keys': onceKeys,
  '0013_claim_revisions': claimRevisions,
  '0014_outbox_shards': outboxShards,
  '0015_operator_pauses': operatorPauses,
  '0016_outbox_shard_index': outboxShardIndex,
  '0017_payments': payments,
  '0018_lifecycle_index': lifecycleIndex,
  '0019_ai_usage': aiUsage,
  '0020_lifetimes': lifetimes,
  '0021_once_key_entries': onceKeyEntries,
  '0022_acknowledged_occurrences': acknowledgedOccurrences,
  '0023_awaited_payments': awaitedPayments,
  '0024_published': published,
  '0025_not_executions': notExecutions,
  '0026_entries_of_version_2': entriesOfVersion2,
};
