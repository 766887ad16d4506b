import {
  type AcceptedExecution,
  canonicalHash,
  type ErrorCode,
  fromErrorReply,
  type JsonValue,
  type OnceKey,
  type OnceScope,
  ServiceError,
} from '@orrery/contracts';
import { findAnswer, type KeyedRequest } from '@orrery/database';
import type { KeyedEffect, OnceKeyEffect } from '../../store/commit/effects.js';
import type { StoredOutcome, UsedKey } from '../../store/runs/once-store.js';
import { type DeploymentState, keyIdOf } from '../../store/state/deployment-state.js';
import type { Db } from '../../store/tables/schema.js';
import type { ItemOutcome, WorkItem } from './work-item.js';

/** The keys of a request, and the hash that tells a repetition from another request. */
export interface OnceRequest {
  readonly keys: readonly OnceKey[];
  readonly requestHash: string;
  /** When the message was signed, in milliseconds since the epoch; absent without one. */
  readonly signedAt?: number;
  /** Throws for a request that is no repetition and may not be executed. */
  readonly refuseNew?: () => void;
}

/** Finds the use of a key, whichever deployment uses it. */
export type FindUse = (key: OnceKey) => Promise<UsedKey | undefined>;

const MESSAGE_KEPT_MS = 24 * 60 * 60 * 1000;

/** When a key may be forgotten whose execution has ended; null: never by itself. */
export const expiryOf = ({ scope, windowMs = 0 }: OnceKey, now: number): Date | null =>
  scope === 'message' ? new Date(now + Math.max(MESSAGE_KEPT_MS, windowMs)) : null;

const REFUSALS: Readonly<Record<OnceScope, readonly [code: ErrorCode, detail: string]>> = {
  message: [
    'message_already_used',
    'The message was executed with another input, and is good for that one alone. Sign a new message.',
  ],
  payment: ['payment_already_used', 'The payment pays for another execution. Make a new payment.'],
  occurrence: ['idempotency_key_reused', 'The occurrence was executed with another request.'],
  'payment-identifier': [
    'idempotency_key_reused',
    'The payer has used this payment identifier for another request. Make a new identifier for another input.',
  ],
};

/**
 * Makes an item claim once-keys, all of them or none, in the commit of its outcome. An execution without a run ends them
 * at once; a run does so with its last step (`run-item.ts`). A request that is refused before it commits anything leaves
 * them free. A repetition gets the stored outcome, or the id of the run that is under way.
 *
 * A message that seems new is not looked for, unless the item would refuse it. Such a message may have been used all the
 * same, and another owner may claim a key between the preparation and the commit. The commit then writes nothing, the item
 * is prepared again, and finds the key.
 * @throws `message_already_used`, `payment_already_used`, `idempotency_key_reused` for a key of another request
 */
export function onceItem<T>(
  findUse: FindUse,
  item: WorkItem<T>,
  once: OnceRequest,
): WorkItem<T | AcceptedExecution> {
  const { keys } = once;
  let used: UsedKey | undefined;
  let wasPrepared = false;
  let isLookedUp = false;
  const lookUp = async () => {
    isLookedUp = true;
    used = firstUsed(await Promise.all(keys.map(findUse)), once);
  };
  const prepareNew = async (state: DeploymentState) => {
    once.refuseNew?.();
    await item.prepare(state);
  };
  return {
    ...item,
    prepare: async (state) => {
      if (wasPrepared || !seemsNew(once, state)) await lookUp();
      wasPrepared = true;
      if (used !== undefined) return;
      try {
        await prepareNew(state);
      } catch (error) {
        if (isLookedUp) throw error;
        await lookUp();
        if (used === undefined) throw error;
      }
    },
    decide: (state, ids, now) => {
      if (used !== undefined) return repeated(used);
      const outcome = isLookedUp ? item.decide(state, ids, now) : decideUnlessRefused(item, state, ids, now);
      if (outcome.kind === 'commit') {
        const onceKeys = claims(once, null, now);
        return { ...outcome, effects: { ...outcome.effects, onceKeys } };
      }
      if (outcome.kind !== 'record') return outcome;
      return { ...outcome, onceKeys: claims(once, outcome.run.id, now) };
    },
  };
}

/** Whether the request has a message, and nothing beside it, that was not claimed since the deployment was read. */
const seemsNew = ({ keys, signedAt }: OnceRequest, { messages, readAt }: DeploymentState): boolean =>
  signedAt !== undefined &&
  keys.every(({ scope, key }) => scope === 'message' && messages.isNew(key, signedAt, readAt));

/** What was not looked for is looked for before it is refused: a repetition gets the stored outcome instead. */
function decideUnlessRefused<T>(
  item: WorkItem<T>,
  ...args: Parameters<WorkItem<T>['decide']>
): ItemOutcome<T> {
  try {
    const outcome = item.decide(...args);
    return outcome.kind === 'refuse' || outcome.kind === 'answer' ? { kind: 'prepare' } : outcome;
  } catch {
    return { kind: 'prepare' };
  }
}

/** The use of one of the keys by this very request. @throws for a key that another request has used */
function firstUsed(
  uses: readonly (UsedKey | undefined)[],
  { requestHash }: OnceRequest,
): UsedKey | undefined {
  const used = uses.filter((one) => one !== undefined);
  if (used.some(({ isForgotten }) => isForgotten === true))
    throw new ServiceError(
      'idempotency_key_reused',
      'The occurrence has ended, and its outcome was acknowledged.',
    );
  const foreign = used.find((one) => one.request_hash !== requestHash);
  if (foreign !== undefined) throw new ServiceError(...REFUSALS[foreign.scope as OnceScope]);
  return used[0];
}

function repeated<T>({ run_id, reply }: UsedKey): ItemOutcome<T | AcceptedExecution> {
  if (reply !== null) return storedOutcome(reply);
  // A key without its answer is that of a run.
  return { kind: 'answer', answer: { executionId: run_id ?? '', state: 'running' } };
}

const claims = (
  { keys, requestHash }: OnceRequest,
  runId: string | null,
  now: number,
): readonly OnceKeyEffect[] =>
  keys.map((key) => ({
    kind: 'claim',
    scope: key.scope,
    key: key.key,
    requestHash,
    runId,
    expiresAt: runId === null ? expiryOf(key, now) : null,
  }));

/** What the end of a run does to its keys: they hold its outcome, or are free again. */
export const endOfKeys = (
  keys: readonly OnceKey[],
  kind: 'end' | 'release',
  now: number,
): readonly OnceKeyEffect[] =>
  keys.map((key) => ({ kind, scope: key.scope, key: key.key, expiresAt: expiryOf(key, now) }));

/**
 * Makes an item answer a repetition of its request with the first answer. The item's own commit claims the key and
 * stores the answer; a request that is refused before anything is committed leaves the key free.
 * @param acceptedAs answers a repetition while a run has claimed the key, for who does not wait for the run
 * @throws `idempotency_key_reused`, or `request_in_flight` while a run has claimed the key
 */
export function keyedItem<T>(
  db: Db,
  item: WorkItem<T>,
  keyed: KeyedRequest | undefined,
  acceptedAs?: (executionId: string) => T,
): WorkItem<T> {
  if (keyed === undefined) return item;
  const { accountId, operation, key, request } = keyed;
  const effect: KeyedEffect = { accountId, operation, key, requestHash: canonicalHash(request) };
  let stored: JsonValue | undefined;
  let since = 0;
  let isLookedUpAgain = false;
  return {
    ...item,
    prepare: async (state) => {
      since = state.keys.uncommitted;
      stored = await findAnswer(db, keyed);
      if (stored === undefined) await item.prepare(state);
    },
    decide: (state, ids, now) => {
      const known = answerInMemory(state, effect, now) ?? stored;
      if (known !== undefined) return storedOutcome(known);
      const claimant = claimantOf(state, effect);
      if (claimant !== undefined) return whileInFlight(claimant, acceptedAs);
      // Else the answer may have been committed since it was looked for, and be forgotten again: a commit finds its key.
      const knowsAll = state.keys.hasAllSince(since);
      const isNew = isLookedUpAgain || knowsAll;
      const outcome = isNew ? item.decide(state, ids, now) : decideUnlessRefused(item, state, ids, now);
      if (outcome.kind === 'commit') return { ...outcome, effects: { ...outcome.effects, key: effect } };
      // Nothing else would notice a second run.
      const isSure = outcome.kind === 'record' ? knowsAll : isNew || outcome.kind !== 'prepare';
      if (isSure) return outcome;
      isLookedUpAgain = true;
      return { kind: 'prepare' };
    },
  };
}

const keyReused = () =>
  new ServiceError(
    'idempotency_key_reused',
    'Send the request of the key again as it was, or this one with a key of its own.',
  );

/** The answer of a request that this process has committed, also earlier in the same batch. */
function answerInMemory({ keys }: DeploymentState, effect: KeyedEffect, now: number): JsonValue | undefined {
  const known = keys.get(keyIdOf(effect), now);
  if (known === undefined || known.requestHash === effect.requestHash) return known?.reply;
  throw keyReused();
}

function storedOutcome<T>(stored: JsonValue): ItemOutcome<T> {
  // Stored by this very operation.
  const answer = stored as unknown as StoredOutcome;
  if ('error' in answer) return { kind: 'refuse', error: fromErrorReply(answer.error) };
  return { kind: 'answer', answer: answer.reply as T };
}

/** The run that has claimed the key for this very request. @throws `idempotency_key_reused` */
function claimantOf({ runs }: DeploymentState, effect: KeyedEffect): string | undefined {
  const run = runs.size === 0 ? undefined : runs.claimantOf(keyIdOf(effect));
  if (run?.claim == null || run.claim.requestHash === effect.requestHash) return run?.id;
  throw keyReused();
}

function whileInFlight<T>(executionId: string, acceptedAs?: (executionId: string) => T): ItemOutcome<T> {
  if (acceptedAs !== undefined) return { kind: 'answer', answer: acceptedAs(executionId) };
  throw new ServiceError(
    'request_in_flight',
    'The first request with this Idempotency-Key is being executed. Repeat the request to get its answer.',
    { facts: { executionId } },
  );
}
