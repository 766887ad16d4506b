import { z } from 'zod';
import { jsonObject } from '../json/json-schemas.js';
import { address, name, sha256 } from '../records/fields.js';
import { defineMessage, rpc } from '../rpc/rpc.js';
import { executionAnswer } from './execution.js';
import { executionError, executionTrigger } from './journal.js';

/**
 * What may be executed once, whoever requests it: a signed message, an occurrence of a schedule, a payment, the name that a
 * payer gives to its payments for one execution.
 *
 *   scope        kept, once the execution has ended
 *   message      for its time window, and for 24 hours at least
 *   occurrence   until it is acknowledged; afterwards it can no longer be executed
 *   payment      for ever
 *   payment-identifier   for ever
 */
export const onceScope = z.enum(['message', 'occurrence', 'payment', 'payment-identifier']);
export type OnceScope = z.infer<typeof onceScope>;

const onceKeyName = { scope: onceScope, key: z.string().min(1).max(512) };

export const onceKey = z.strictObject({
  ...onceKeyName,
  /** Of a message: how long its signature is valid, in milliseconds. */
  windowMs: z.int().min(0).optional(),
});
export type OnceKey = z.infer<typeof onceKey>;

/** What the caller knows to be bound; anything else is refused with `binding_changed`. */
export const expectedBinding = z.strictObject({
  bindingId: z.int().optional(),
  eventVersion: z.int(),
  versionHash: sha256,
});
export type ExpectedBinding = z.infer<typeof expectedBinding>;

const ended = { state: z.literal('ended'), historyId: z.string(), seq: z.int() };

/** A failed execution has an entry and has used its keys up; a refused one is an error and has not. */
export const serviceExecution = z.union([
  z.strictObject({ ...ended, status: z.literal('succeeded'), answer: executionAnswer }),
  z.strictObject({ ...ended, status: z.literal('failed'), error: executionError }),
  z.strictObject({ state: z.literal('running'), executionId: z.string() }),
]);
export type ServiceExecution = z.input<typeof serviceExecution>;

/** Executions on behalf of a schedule: it is the caller of the call, any other is `forbidden`. */
export const serviceExecutionRpcs = {
  /**
   * Executes an event once for all its keys. A repetition with the same request gets the stored outcome, or waits for it;
   * a key that was used with another request is refused. `running`: it goes on after the caller's deadline, or the caller
   * does not wait for a run (`leavesRun`).
   */
  'executions.forService': rpc({
    errors: [
      'forbidden',
      'deployment_not_found',
      'event_not_bound',
      'binding_changed',
      'deployment_paused',
      'evaluator_unavailable',
      'message_already_used',
      'payment_already_used',
      'idempotency_key_reused',
    ],
    request: z.object({
      deployment: address,
      event: name,
      input: jsonObject,
      trigger: executionTrigger.extract(['cron']),
      keys: z.array(onceKey).min(1).max(8),
      expected: expectedBinding.nullable().default(null),
    }),
    reply: serviceExecution,
  }),
  /** The outcome of a key, after everything that was committed before. `unknown`: nothing has used it. */
  'executions.outcomeOf': rpc({
    errors: ['forbidden'],
    request: z.object({ deployment: address, ...onceKeyName }),
    reply: z.union([serviceExecution, z.strictObject({ state: z.literal('unknown') })]),
  }),
};

/**
 * The caller has stored the outcomes of these occurrences and will never repeat them: their keys are removed. Those of a
 * schedule are acknowledged in the order of their positions (`OccurrenceKey`). What is sent late all the same, at or before
 * the last one that was acknowledged, is refused as `idempotency_key_reused` and not executed.
 */
export const acknowledgeRpcs = {
  'executions.acknowledge': rpc({
    errors: ['forbidden'],
    request: z.object({ occurrences: z.array(onceKeyName.key).max(1000) }),
    reply: z.null(),
  }),
};

/** Broadcast when runs of occurrences have ended, with their keys. Who missed it asks again. */
export const occurrencesEnded = defineMessage(
  'runtime',
  'occurrences-ended',
  z.strictObject({ occurrences: z.array(z.string()) }),
);

/** What an occurrence's key at the runtime names. */
export interface OccurrenceKey {
  /** The address of the deployment. */
  readonly deployment: string;
  readonly event: string;
  /** `due`: a due time of the schedule. `run`: a run on request. */
  readonly kind: 'due' | 'run';
  /** The due time in milliseconds since the epoch, or the number of the run: later ones are larger. */
  readonly position: number;
  readonly attempt: number;
}

/** The key under which one attempt of an occurrence is executed once. */
export const occurrenceKey = ({ deployment, event, kind, position, attempt }: OccurrenceKey): string =>
  `${deployment}/${kind === 'run' ? `run ${position}` : new Date(position).toISOString()}/${attempt}/${event}`;

const FORM = /^([^/]+)\/(?:run (\d{1,15})|(\d{4}-[^/]{1,30}))\/(\d{1,9})\/(.+)$/s;

/** Undefined for what `occurrenceKey` has not made. */
export function readOccurrenceKey(key: string): OccurrenceKey | undefined {
  const [, deployment = '', run, due = '', attempt, event = ''] = FORM.exec(key) ?? [];
  const position = run === undefined ? Date.parse(due) : Number(run);
  if (Number.isNaN(position)) return undefined;
  return { deployment, event, kind: run === undefined ? 'due' : 'run', position, attempt: Number(attempt) };
}
