import {
  idempotencyTable,
  type Migrations,
  outboxMigration,
  outboxShardIndex,
  outboxShards,
} from '@orrery/database';
import { definitions } from './0001-definitions.js';
import { claims } from './0002-claims.js';
import { quotas } from './0003-quotas.js';
import { definitionHash } from './0006-definition-hash.js';
import { claimRevisions } from './0008-claim-revisions.js';

/** In order. A released migration never changes. */
export const migrations: Migrations = {
  '0001_definitions': definitions,
  '0002_claims': claims,
  '0003_quotas': quotas,
  '0004_idempotency': idempotencyTable,
  '0005_outbox': outboxMigration,
  '0006_definition_hash': definitionHash,
  '0007_outbox_shards': outboxShards,
  '0008_claim_revisions': claimRevisions,
  '0009_outbox_shard_index': outboxShardIndex,
};
