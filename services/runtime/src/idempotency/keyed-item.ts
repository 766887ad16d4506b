import {
  canonicalHash,
  type ErrorReply,
  fromErrorReply,
  type JsonValue,
  ServiceError,
} from '@orrery/contracts';
import { findAnswer, type KeyedRequest } from '@orrery/database';
import type { Db } from '../database/db.js';
import { type DeploymentState, keyIdOf } from '../state/deployment-state.js';
import type { KeyedEffect } from '../state/effects.js';
import type { ItemOutcome, WorkItem } from '../state/work-item.js';

/** What an item stores under its key: its answer, or the error of a failed execution. */
type StoredAnswer = { readonly reply: JsonValue } | { readonly error: ErrorReply };

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
  return {
    ...item,
    prepare: async (state) => {
      stored = await findAnswer(db, keyed);
      if (stored === undefined) await item.prepare(state);
    },
    decide: (state, ids, now) => {
      const known = answerInMemory(state, effect) ?? stored;
      if (known !== undefined) return repeated(known);
      const claimant = claimantOf(state, effect);
      if (claimant !== undefined) return whileInFlight(claimant, acceptedAs);
      const outcome = item.decide(state, ids, now);
      return outcome.kind === 'commit'
        ? { ...outcome, effects: { ...outcome.effects, key: effect } }
        : outcome;
    },
  };
}

/** The answer of a request that this process has committed, also earlier in the same batch. */
function answerInMemory({ keys }: DeploymentState, effect: KeyedEffect): JsonValue | undefined {
  const known = keys.get(keyIdOf(effect));
  if (known === undefined || known.requestHash === effect.requestHash) return known?.reply;
  throw new ServiceError('idempotency_key_reused');
}

function repeated<T>(stored: JsonValue): ItemOutcome<T> {
  // Stored by this very operation.
  const answer = stored as unknown as StoredAnswer;
  if ('error' in answer) return { kind: 'refuse', error: fromErrorReply(answer.error) };
  return { kind: 'answer', answer: answer.reply as T };
}

/** The run that has claimed the key for this very request. @throws `idempotency_key_reused` */
function claimantOf({ runs }: DeploymentState, effect: KeyedEffect): string | undefined {
  const run = runs.size === 0 ? undefined : runs.claimantOf(keyIdOf(effect));
  if (run?.claim == null || run.claim.requestHash === effect.requestHash) return run?.id;
  throw new ServiceError('idempotency_key_reused');
}

function whileInFlight<T>(executionId: string, acceptedAs?: (executionId: string) => T): ItemOutcome<T> {
  if (acceptedAs !== undefined) return { kind: 'answer', answer: acceptedAs(executionId) };
  throw new ServiceError(
    'request_in_flight',
    'The first request with this Idempotency-Key is being executed. Repeat the request to get its answer.',
    { facts: { executionId } },
  );
}
