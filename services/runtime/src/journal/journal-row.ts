import type { HashedEntry, hashedEntry } from '@orrery/contracts';
import type { Selectable } from 'kysely';
import type { RuntimeTables } from '../database/schema.js';

/** The columns that an entry's hash covers, and the hash. */
export const HASHED_COLUMNS = [
  'v',
  'seq',
  'id',
  'kind',
  'event',
  'event_version',
  'version_hash',
  'trigger',
  'caller',
  'status',
  'input',
  'changes',
  'result',
  'error',
  'llm_hash',
  'attestation',
  'payment_key',
  'executed_at',
  'prev_hash',
  'hash',
] as const;

export type HashedRow = Pick<Selectable<RuntimeTables['journal']>, (typeof HASHED_COLUMNS)[number]>;

/** A row as the entry that was hashed. The columns were written from one and are not validated again. */
export const hashedEntryOf = (row: HashedRow, deployment: string): HashedEntry =>
  ({
    v: row.v,
    deployment,
    id: row.id,
    seq: row.seq,
    kind: row.kind,
    event: row.event,
    eventVersion: row.event_version,
    versionHash: row.version_hash,
    trigger: row.trigger,
    caller: row.caller,
    status: row.status,
    input: row.input,
    changes: row.changes,
    result: row.result,
    error: row.error,
    llmHash: row.llm_hash,
    attestation: row.attestation,
    paymentKey: row.payment_key,
    executedAt: row.executed_at.toISOString(),
    prevHash: row.prev_hash,
  }) satisfies Record<keyof typeof hashedEntry.shape, unknown> as HashedEntry;
