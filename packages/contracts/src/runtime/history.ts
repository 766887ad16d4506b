import { z } from 'zod';
import { pushSummary } from '../chain/push-record.js';
import { jsonObject } from '../json/json-schemas.js';
import { pageQuery } from '../paging/pagination.js';
import { name, sha256 } from '../records/text.js';
import { listOperation, operation } from '../rpc/operation.js';
import type { HttpBinding } from '../rpc/rpc.js';
import { deploymentPath } from './deployment-path.js';
import { executionStatus, executionTrigger, hashedEntry, stateChangesView } from './journal.js';
import { entryPayment } from './payments.js';

/**
 * A journal entry as it is read. All that `hash` covers is shown to everyone who may read it; `llm` without its texts
 * in lists, and for others than the owner where the deployment is not `isLLMPublic`.
 */
export const historyEntry = z
  .strictObject({
    ...hashedEntry.shape,
    hash: sha256,
    stateChanges: stateChangesView,
    llm: jsonObject.nullable(),
    payment: entryPayment.nullable(),
    pushes: z.array(pushSummary),
    /** Milliseconds from the start of the execution to its decision; null for what is no execution. */
    durationMs: z.number().nullable(),
  })
  .meta({ id: 'HistoryEntry' });
export type HistoryEntry = z.infer<typeof historyEntry>;

/** Entries that one call of verify reads at most. */
export const MAX_VERIFIED = 100_000;

const wholeNumber = (max: number) =>
  z
    .union([z.int(), z.string().regex(/^\d{1,15}$/, 'A whole number is required.')])
    .transform(Number)
    .pipe(z.int().min(1).max(max));
const seq = wholeNumber(Number.MAX_SAFE_INTEGER);

/** `schema:instanceId`, split at the first colon. */
const instanceKey = z
  .string()
  .regex(/^[^:]+:./su, 'A schema and an instanceId are required, such as "horse:HORSE_1".');

export const historyQuery = z
  .strictObject({
    page: wholeNumber(1_000_000_000).optional(),
    limit: pageQuery.shape.limit,
    /** What follows this entry in the list, so smaller `seq`; in place of `page`. */
    after: seq.optional(),
    event: name.optional(),
    status: executionStatus.optional(),
    trigger: executionTrigger.optional(),
    instance: instanceKey.optional(),
    /** The whole journal in place of the executions in it. */
    include: z.literal('all').optional(),
  })
  .refine(({ page, after }) => page === undefined || after === undefined, {
    path: ['after'],
    message: 'Give either page or after, not both.',
  });
export type HistoryQuery = z.output<typeof historyQuery>;

/**
 * The first place where the journal and what is stored beside it contradict each other. `seq` is the entry concerned, or
 * the last one where an instance differs from the whole journal.
 */
export const divergence = z
  .strictObject({
    seq: z.int(),
    what: z.enum([
      'missing_entry',
      'broken_link',
      'wrong_hash',
      'impossible_change',
      'kept_state_differs',
      'instance_differs',
      'change_index_differs',
      'snapshot_differs',
      'head_differs',
    ]),
    /** The instance concerned, as `schema:instanceId`. */
    instance: z.string().optional(),
  })
  .meta({ id: 'Divergence' });
export type Divergence = z.infer<typeof divergence>;

export const verification = z
  .strictObject({
    valid: z.boolean(),
    /** Entries read by this call. */
    entries: z.int(),
    firstDivergence: divergence.nullable(),
    /**
     * `from` of the next call; null when nothing is left or after a divergence. Below 10^14 it is a `seq`, from there on
     * it continues the comparison of the instances.
     */
    next: z.int().nullable(),
  })
  .meta({ id: 'Verification' });
export type Verification = z.infer<typeof verification>;

const http = (rest: string, summary: string): HttpBinding => ({
  method: 'GET',
  path: `/api/worlds/:worldAddress/deployments/:address/history${rest}`,
  status: 200,
  tag: 'History',
  summary,
});
const access = { scope: 'read', relation: 'visible' } as const;

export const historyRpcs = {
  'history.list': listOperation({
    http: http('', 'List the executions of a deployment, newest first'),
    access,
    errors: ['deployment_not_found', 'page_too_deep'],
    params: deploymentPath,
    query: historyQuery,
    item: historyEntry,
  }),
  'history.verify': operation({
    http: http('/verify', 'Verify the hash chain and the replayed state of a range of the journal'),
    access,
    errors: ['deployment_not_found', 'request_in_flight'],
    params: deploymentPath,
    query: z.strictObject({ from: seq.default(1), limit: wholeNumber(MAX_VERIFIED).default(MAX_VERIFIED) }),
    data: verification,
  }),
  'history.get': operation({
    http: http('/:historyId', 'Get a history entry with the prompt and the answer of its model'),
    access,
    errors: ['deployment_not_found', 'history_entry_not_found'],
    params: z.strictObject({ ...deploymentPath.shape, historyId: z.string().min(1).max(64) }),
    data: historyEntry,
  }),
};
