import { z } from 'zod';
import { address } from '../ids/address.js';
import { jsonObject, jsonValue } from '../json/json-schemas.js';
import { sha256, timestamp } from '../records/text.js';
import { rpc } from '../rpc/rpc.js';
import { onchainFilter } from './bindings.js';

/** All that can happen to a deployment; the history is the entries of kind `execution`. */
export const journalKind = z
  .enum([
    'execution',
    'deployment_created',
    'settings_updated',
    'bindings_added',
    'bindings_updated',
    'binding_removed',
    'instance_created',
    'instance_updated',
    'instance_deleted',
    'locked',
    'paused',
    'resumed',
    'published',
    'unpublished',
    'deleted',
    'tail_lost',
  ])
  .meta({ id: 'JournalKind' });
export type JournalKind = z.infer<typeof journalKind>;

export const executionTrigger = z.enum(['admin', 'public', 'cron']).meta({ id: 'ExecutionTrigger' });
export type ExecutionTrigger = z.infer<typeof executionTrigger>;

export const executionStatus = z.enum(['succeeded', 'failed']).meta({ id: 'ExecutionStatus' });
export type ExecutionStatus = z.infer<typeof executionStatus>;

/**
 * What an entry does to one instance. `create`: `set` is the whole state; `update`: `set` and `unset` are merged into
 * it; `delete`: both are empty. `revision` is the one after the change; a re-created instance starts at 1 again.
 */
export const instanceChange = z
  .strictObject({
    entitySchema: z.string(),
    instanceId: z.string(),
    op: z.enum(['create', 'update', 'delete']),
    set: jsonObject,
    unset: z.array(z.string()),
    revision: z.int(),
  })
  .meta({ id: 'InstanceChange' });
export type InstanceChange = z.infer<typeof instanceChange>;

/** `schema:instanceId` → the attributes set, `null` for a removed one; a deleted instance is `null` itself. */
export const stateChangesView = z
  .record(z.string(), jsonObject.nullable())
  .meta({ id: 'StateChangesView', example: { 'horse:HORSE_1': { wins: 4 } } });
export type StateChangesView = z.infer<typeof stateChangesView>;

/** Why an execution failed: a code of the error table, a sentence, and facts for programs. */
export const executionError = z
  .strictObject({ code: z.string(), detail: z.string(), facts: jsonObject.optional() })
  .meta({ id: 'ExecutionError' });
export type ExecutionError = z.infer<typeof executionError>;

/** Version of the hash recipe; `v` of every entry. */
export const JOURNAL_VERSION = 1;

/**
 * Exactly what an entry's `hash` covers, `prevHash` included (docs/history.md). For what is no execution,
 * `event` to `status`, `result` and `error` are null and `input` holds the facts.
 */
export const hashedEntry = z.strictObject({
  v: z.literal(JOURNAL_VERSION),
  deployment: address,
  id: z.string(),
  seq: z.int(),
  kind: journalKind,
  event: z.string().nullable(),
  eventVersion: z.int().nullable(),
  versionHash: sha256.nullable(),
  trigger: executionTrigger.nullable(),
  caller: z.string(),
  status: executionStatus.nullable(),
  input: jsonObject,
  changes: z.array(instanceChange),
  result: jsonValue.nullable(),
  error: executionError.nullable(),
  llmHash: sha256.nullable(),
  attestation: jsonObject.nullable(),
  paymentKey: z.string().nullable(),
  executedAt: timestamp,
  prevHash: sha256,
});
export type HashedEntry = z.infer<typeof hashedEntry>;

/** What the binding said about pushes when the execution ran; null where nothing is to be pushed. */
export const pushPlan = z.object({ targetChains: z.array(z.string()), onchain: onchainFilter.nullable() });
export type PushPlan = z.infer<typeof pushPlan>;

/** An entry as other services receive it: the hashed members, the hash, and members derived for them. */
export const journalFact = z.object({
  ...hashedEntry.shape,
  hash: sha256,
  worldAddress: address,
  /** SHA-256 of the RFC 8785 JSON of `input`. */
  inputHash: sha256,
  stateChanges: stateChangesView,
  binding: pushPlan.nullable(),
});
export type JournalFact = z.infer<typeof journalFact>;

/** How far a journal goes: the deployment's address, and the seq and hash of its last entry. */
export const journalHead = z.object({ deployment: address, seq: z.int(), hash: sha256 });
export type JournalHead = z.infer<typeof journalHead>;

/** Where a page of heads ends, for the next one. */
const headCursor = z.strictObject({ minute: z.int(), deploymentId: z.int() });

export const journalRpcs = {
  /**
   * The heads of journals that changed since a time, page by page, those of deleted deployments too. A consumer compares
   * them with its positions and reads what it missed through `journal.range`. `changedSince` is `until` of the first page
   * of an earlier pass, null for all journals; heads that changed shortly before are answered again. An entry that a
   * runtime of an older release writes does not count as a change, so a consumer makes a pass over all from time to time.
   * `of: 'lifecycle'` answers the last lifecycle entry of each of these journals in place of its last entry.
   */
  'journal.heads': rpc({
    access: { scope: 'none', relation: 'internal' },
    errors: [],
    request: z.object({
      changedSince: timestamp.nullable(),
      after: headCursor.nullable(),
      limit: z.int().min(1).max(1000),
      of: z.enum(['journal', 'lifecycle']).default('journal'),
    }),
    reply: z.object({ heads: z.array(journalHead), next: headCursor.nullable(), until: timestamp }),
  }),
  /**
   * Entries of a deployment with `seq` above `after`, in order, for a consumer that missed some; deleted deployments
   * too. May answer fewer than `limit` (replies are bounded in bytes); `head` says how far the journal goes.
   */
  'journal.range': rpc({
    access: { scope: 'none', relation: 'internal' },
    errors: ['deployment_not_found'],
    request: z.object({ deployment: address, after: z.int().min(0), limit: z.int().min(1).max(500) }),
    reply: z.object({ entries: z.array(journalFact), head: z.int() }),
  }),
};
