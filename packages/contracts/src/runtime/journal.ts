import { z } from 'zod';
import type { ServiceError } from '../errors/service-error.js';
import { cutText, storableObject, storableText } from '../json/json.js';
import { jsonObject, jsonValue } from '../json/json-schemas.js';
import { address, nullableText, ordinal, sha256, storedName, timestamp } from '../records/fields.js';
import { defineMessage, rpc } from '../rpc/rpc.js';
import { onchainFilter } from './bindings.js';

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
    'timer_set',
    'timer_cancelled',
    'deleted',
    'randomness_committed',
    'randomness_revealed',
    'tail_lost',
  ])
  .meta({
    id: 'JournalKind',
    description:
      'What happened to a deployment. The history is the entries of the kind `execution`. `tail_lost`: the database came ' +
      'back without its last entries.',
  });
export type JournalKind = z.infer<typeof journalKind>;

export const executionTrigger = z.enum(['admin', 'public', 'cron', 'timer']).meta({
  id: 'ExecutionTrigger',
  description:
    'What started an execution: `admin` its owner, `public` a wallet, `cron` a schedule, `timer` another execution or a ' +
    'request to execute later (docs/timers.md).',
});
export type ExecutionTrigger = z.infer<typeof executionTrigger>;

export const executionStatus = z
  .enum(['succeeded', 'failed'])
  .meta({ id: 'ExecutionStatus', description: 'How an execution ended. A failed one changes nothing.' });
export type ExecutionStatus = z.infer<typeof executionStatus>;

export const instanceChange = z
  .strictObject({
    entitySchema: storedName.describe('Name of its entity schema.'),
    instanceId: storedName.describe('Key of the instance.'),
    op: z.enum(['create', 'update', 'delete']).describe('What was done to the instance.'),
    set: jsonObject.describe(
      '`create`: the whole state; `update`: the attributes to replace; `delete`: empty.',
    ),
    unset: z.array(z.string()).describe('Names of attributes to remove; only `update` has any.'),
    revision: ordinal.describe(
      'The revision after the change. An instance that is created again starts at 1.',
    ),
  })
  .meta({ id: 'InstanceChange', description: 'What an entry does to one instance.' });
export type InstanceChange = z.infer<typeof instanceChange>;

export const stateChangesView = z.record(z.string(), jsonObject.nullable()).meta({
  id: 'StateChangesView',
  description:
    '`schema:instanceId` → the attributes as they now stand; null for a removed attribute, and for a deleted instance.',
  example: { 'horse:HORSE_1': { wins: 4 } },
});
export type StateChangesView = z.infer<typeof stateChangesView>;

export const executionError = z
  .strictObject({
    code: z.string().describe('The error code, for programs.'),
    detail: z.string().describe('The reason, for people: at most 2,000 characters.'),
    facts: jsonObject.optional().describe('Facts for programs, by code.'),
  })
  .meta({ id: 'ExecutionError', description: 'Why an execution failed.' });
export type ExecutionError = z.infer<typeof executionError>;

/** What only those are told of a failure who may see the code of its version; no hash covers it. */
export const failedCode = z
  .strictObject({
    placeholder: z
      .string()
      .describe('The placeholder that failed, as it stands in the template. Empty: none did.'),
    pointer: z
      .string()
      .describe(
        'JSON Pointer (RFC 6901) to its text in the template; of a follow-up it begins with `/followUps`.',
      ),
    reason: z.string().describe('The reason with all that it quotes.'),
  })
  .meta({ id: 'FailedCode', description: 'Where the code of a version failed.' });
export type FailedCode = z.infer<typeof failedCode>;

/** The most characters of a reason, and of its facts as JSON, that an entry holds. */
const MAX_DETAIL = 2000;
const MAX_FACTS = 8000;

/**
 * The reason of a failed execution as it is stored and answered: no text is in it that PostgreSQL refuses. Facts that are too
 * large are left out.
 */
export function executionErrorOf({ code, message, facts }: ServiceError): ExecutionError {
  const detail = cutText(storableText(message), MAX_DETAIL - 1);
  const storable = storableObject(facts);
  const { length } = JSON.stringify(storable);
  return length === '{}'.length || length > MAX_FACTS ? { code, detail } : { code, detail, facts: storable };
}

/** Versions of the hash recipe. Those of 1 lack `decidedAt`, `evaluator` and what `recordedMembers` names. */
export const journalVersion = z.literal([1, 2]);
export type JournalVersion = z.infer<typeof journalVersion>;

/**
 * The revision of the rules by which templates, guards and changes are computed. It rises when the outcome of any execution
 * could change, so that a decision can be computed again by the rules that made it. Earlier ones stay (docs/adr/0049).
 */
export const EVALUATOR = 2;
/** A revision that this release has. */
export type Evaluator = 1 | typeof EVALUATOR;

export const isEvaluator = (revision: number | undefined): revision is Evaluator =>
  revision === 1 || revision === EVALUATOR;

/** What set an execution or a timer. */
export const entryCause = z
  .strictObject({
    seq: ordinal.describe('The entry that set it.'),
    index: z.int().min(0).max(9999).describe('Its position among the `timers` of that entry, from 0.'),
  })
  .meta({ id: 'EntryCause', description: 'What an execution was set by.' });

/** A timer as the entry names it that sets it; or, where `event` is null, the key of which it cancels the timer. */
const entryTimer = z
  .strictObject({
    id: nullableText.describe('Id of the timer, a UUID. Null: the timer with this key is cancelled.'),
    event: storedName.nullable().describe('The event that is executed. Null: a timer is cancelled.'),
    dueAt: timestamp.nullable().describe('When it is due. Null: a timer is cancelled.'),
    key: nullableText.describe('The key of which one timer is pending. Null: none.'),
    inputHash: sha256
      .nullable()
      .describe('SHA-256 of the RFC 8785 JSON of its input. Null: a timer is cancelled.'),
  })
  .meta({ id: 'EntryTimer', description: 'A timer that an entry sets, or cancels by its key.' });
export type EntryTimer = z.infer<typeof entryTimer>;

/** Of an execution in a what-if fork: what it repeats. */
const replayedEntry = z
  .strictObject({
    seq: ordinal.describe('Its position in the journal of the source.'),
    executedAt: timestamp.describe('When it was committed there.'),
  })
  .meta({
    id: 'ReplayedEntry',
    description: 'The entry of its source that a what-if fork has executed again.',
  });

const hex = (bytes: string) =>
  z
    .string()
    .regex(/^(?:[0-9a-f]{2})+$/)
    .max(1024)
    .describe(bytes);

/** Where the random numbers of an execution come from, so that anybody can draw them again. */
export const entryRandomness = z
  .strictObject({
    source: z
      .enum(['deployment', 'drand', 'replayed'])
      .describe(
        '`deployment`: a secret of the deployment; `drand`: a round of a public beacon; `replayed`: the entry that a what-if fork repeats.',
      ),
    seed: sha256.describe('The seed of its draws, in hex.'),
    run: z
      .string()
      .max(64)
      .optional()
      .describe('The id of the run, which the seed is made for. Absent: it is replayed.'),
    commitment: sha256
      .optional()
      .describe('SHA-256 of the secret that the seed is made of. Absent: it is of another source.'),
    chain: sha256.optional().describe('Hash of the chain of the beacon. Absent: no beacon.'),
    round: ordinal.optional().describe('Round of the beacon. Absent: no beacon.'),
    signature: hex('Signature of that round, in hex. Absent: no beacon.').optional(),
  })
  .meta({
    id: 'EntryRandomness',
    description: 'Where the random numbers of an execution come from (docs/history.md).',
  });
export type EntryRandomness = z.infer<typeof entryRandomness>;

/** What some entries of version 2 add. Unset members are left out of the entry, and of what its hash covers. */
const recordedMembers = {
  timers: z
    .array(entryTimer)
    .max(64)
    .optional()
    .describe('The timers that it sets and cancels. Absent: none.'),
  cause: entryCause.optional().describe('What set this execution. Absent: nothing did.'),
  depth: ordinal.optional().describe('How many timers led to it, one after the other. Absent: none.'),
  readHistoryHash: sha256
    .optional()
    .describe('SHA-256 of the RFC 8785 JSON of the past entries that were read. Absent: none were.'),
  replayOf: replayedEntry
    .optional()
    .describe('The entry of the source that a what-if fork repeats by it. Absent: it repeats none.'),
  randomness: entryRandomness
    .optional()
    .describe('Where its random numbers come from (docs/history.md). Absent: it drew none.'),
};

const recordedEntry = z.strictObject(recordedMembers);
/** What the decision of an execution adds to its entry. */
export type Recorded = z.infer<typeof recordedEntry>;
export const RECORDED_MEMBERS = Object.keys(recordedMembers) as readonly (keyof Recorded)[];

/**
 * Exactly what an entry's `hash` covers, `prevHash` included (docs/history.md). For what is no execution,
 * `event` to `status`, `result` and `error` are null and `input` holds the facts.
 */
export const hashedEntry = z.strictObject({
  v: journalVersion.describe('Version of the recipe of `hash` (docs/history.md).'),
  deployment: address.describe('Address of the deployment.'),
  id: z.string().describe('Id of the entry, a UUID: the `historyId` of an execution.'),
  seq: ordinal.describe('Position in the journal of the deployment: 1, 2, 3 … without gaps.'),
  kind: journalKind.describe('What happened.'),
  event: storedName.nullable().describe('Name of the event. Null: no execution.'),
  eventVersion: ordinal.nullable().describe('Version that was executed. Null: no execution.'),
  versionHash: sha256.nullable().describe('Hash of that version, as it was then. Null: no execution.'),
  trigger: executionTrigger.nullable().describe('What started the execution. Null: no execution.'),
  caller: z
    .string()
    .describe('Who did it: `account:<id>`, `wallet:<base58>`, `schedule:<event>` or `service:runtime`.'),
  status: executionStatus.nullable().describe('How the execution ended. Null: no execution.'),
  input: jsonObject.describe('Input of the execution; for other kinds what was asked for.'),
  changes: z.array(instanceChange).max(500).describe('What it does to instances; none if it failed.'),
  result: jsonValue.nullable().describe('Public result of the execution. Null: none.'),
  error: executionError.nullable().describe('Why the execution failed. Null: it did not.'),
  llmHash: sha256.nullable().describe('Hash of the exchange with the model. Null: no model was asked.'),
  attestation: jsonObject
    .nullable()
    .describe("The attestation of the model's server, as it gave it. Null: none."),
  paymentKey: nullableText.describe('What names the payment. Null: nothing was paid.'),
  executedAt: timestamp.describe('When it was committed; never before the entry before it.'),
  prevHash: sha256.describe(
    '`hash` of the entry before; of the first entry the hash of deployment and source.',
  ),
  decidedAt: timestamp
    .optional()
    .describe('When it was decided: the time that templates see. Absent: `v` is 1, and it is `executedAt`.'),
  evaluator: ordinal
    .optional()
    .describe('Revision of the rules that decided it (docs/history.md). Absent: `v` is 1.'),
  ...recordedMembers,
});
export type HashedEntry = z.infer<typeof hashedEntry>;

/** What readers see of an entry beside what its hash covers, wherever they read it. */
export const readBeside = {
  hash: sha256.describe('Hash of the entry (docs/history.md).'),
  stateChanges: stateChangesView.describe('`changes` as values.'),
};

/** What the binding said about pushes when the execution ran; null where nothing is to be pushed. */
export const pushPlan = z.object({
  /** Chains that the execution itself is pushed to. */
  targetChains: z.array(z.string()),
  onchain: onchainFilter.nullable(),
  /** Chains that the head of its hour is pushed to. Absent: none. */
  headChains: z.array(z.string()).optional(),
});
export type PushPlan = z.infer<typeof pushPlan>;

/** An entry as other services receive it: the hashed members, the hash, and members derived for them. */
export const journalFact = z.object({
  ...hashedEntry.shape,
  ...readBeside,
  worldAddress: address,
  /** SHA-256 of the RFC 8785 JSON of `input`. */
  inputHash: sha256,
  binding: pushPlan.nullable(),
});
export type JournalFact = z.infer<typeof journalFact>;

/** How far a journal goes: the deployment's address, and the seq and hash of its last entry. */
export const journalHead = z.object({ deployment: address, seq: z.int(), hash: sha256 });
export type JournalHead = z.infer<typeof journalHead>;

/** Where a page of heads ends, for the next one. */
const headCursor = z.strictObject({
  minute: z.int(),
  deploymentId: z.int(),
  /** The database that the page is of, where there are several. */
  home: z.uuid().exactOptional(),
});

export const journalRpcs = {
  /**
   * The heads of journals that changed since a time, page by page, those of deleted deployments too. A consumer compares
   * them with its positions and reads what it missed through `journal.range`. `changedSince` is `until` of the first page
   * of an earlier pass, null for all journals; heads that changed shortly before are answered again. An entry that a
   * runtime of an older release writes does not count as a change, so a consumer makes a pass over all from time to time.
   * `of: 'lifecycle'` answers the last lifecycle entry of each of these journals in place of its last entry.
   */
  'journal.heads': rpc({
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
    errors: ['deployment_not_found'],
    request: z.object({ deployment: address, after: z.int().min(0), limit: z.int().min(1).max(500) }),
    reply: z.object({ entries: z.array(journalFact), head: z.int() }),
  }),
};

/**
 * Published for every journal entry after its commit, each deployment's in `seq` order, with the entry's id as the
 * message's. A hint: consumers follow `seq`, fetch what is missing through `journal.range`, and learn from `journal.heads`
 * of what was never delivered.
 */
export const journalEntry = defineMessage('runtime', 'journal-entry', journalFact);

/**
 * Broadcast after a commit: the deployments that it touched, each with its journal's last `seq`. Who missed it finds out
 * through `journal.heads` or `journal.range`.
 */
export const journalHeads = defineMessage(
  'runtime',
  'journal-heads',
  z.strictObject({ heads: z.array(z.tuple([z.string(), z.int()])) }),
);
