import {
  canonicalHash,
  type ErrorReply,
  fromErrorReply,
  type JsonValue,
  ServiceError,
} from '@orrery/contracts';
import { IDEMPOTENCY_KEPT_MS } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import { type DeploymentState, keyIdOf } from '../state/deployment-state.js';
import type { KeyedEffect } from '../state/effects.js';
import type { ItemOutcome, WorkItem } from '../state/work-item.js';

/** A request with an `Idempotency-Key`; `request` is what must be the same when the key comes again. */
export interface KeyedRequest {
  readonly accountId: number;
  readonly operation: string;
  readonly key: string;
  readonly request: JsonValue;
}

/** What is kept under a key: the answer, or the error that a failed execution ended with. */
type KeptAnswer = { readonly reply: JsonValue } | { readonly error: ErrorReply };

interface KnownKey {
  readonly requestHash: string;
  readonly reply: JsonValue;
}

/**
 * Makes an item answer a repetition as it answered the first time. The key is claimed in the item's own commit; what
 * is refused before anything is committed does not use it up.
 */
export function answerOnce<T>(
  { db, clock }: { db: Db; clock: Clock },
  item: WorkItem<T>,
  keyed: KeyedRequest | undefined,
): WorkItem<T> {
  if (keyed === undefined) return item;
  const { request, ...named } = keyed;
  const effect: KeyedEffect = { ...named, requestHash: canonicalHash(request) };
  let stored: KnownKey | undefined;
  return {
    ...item,
    prepare: async (state) => {
      stored = await readKey(db, effect, clock.now());
      if (stored === undefined) await item.prepare(state);
    },
    decide: (state, ids, now) => {
      const known = knownIn(state, effect) ?? stored;
      if (known !== undefined) return repeated(known, effect);
      refuseUnderWay(state, effect);
      const decision = item.decide(state, ids, now);
      return decision.kind === 'commit'
        ? { ...decision, effects: { ...decision.effects, key: effect } }
        : decision;
    },
  };
}

/** @throws `request_in_flight` while a run has claimed the key, or `idempotency_key_reused` */
function refuseUnderWay({ runs }: DeploymentState, effect: KeyedEffect): void {
  if (runs.size === 0) return;
  const keyId = keyIdOf(effect);
  for (const { claim } of runs.values()) {
    if (claim?.keyId !== keyId) continue;
    throw new ServiceError(
      claim.requestHash === effect.requestHash ? 'request_in_flight' : 'idempotency_key_reused',
    );
  }
}

const knownIn = (state: DeploymentState, effect: KeyedEffect): KnownKey | undefined =>
  state.keys.get(keyIdOf(effect));

function repeated<T>({ requestHash, reply }: KnownKey, effect: KeyedEffect): ItemOutcome<T> {
  if (requestHash !== effect.requestHash) {
    return { kind: 'refuse', error: new ServiceError('idempotency_key_reused') };
  }
  // Stored by this very operation.
  const kept = reply as unknown as KeptAnswer;
  if ('error' in kept) return { kind: 'refuse', error: fromErrorReply(kept.error) };
  return { kind: 'answer', answer: kept.reply as T };
}

/** An expired key is removed on the way, so that the commit finds its place free. */
async function readKey(
  db: Db,
  { accountId, operation, key }: KeyedEffect,
  now: number,
): Promise<KnownKey | undefined> {
  const found = await db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'reply', 'created_at'])
    .where('account_id', '=', accountId)
    .where('operation', '=', operation)
    .where('key', '=', key)
    .executeTakeFirst();
  if (found === undefined) return undefined;
  if (found.created_at.getTime() > now - IDEMPOTENCY_KEPT_MS) {
    return { requestHash: found.request_hash, reply: found.reply };
  }
  await db
    .deleteFrom('idempotency_keys')
    .where('account_id', '=', accountId)
    .where('operation', '=', operation)
    .where('key', '=', key)
    .where('created_at', '=', found.created_at)
    .execute();
  return undefined;
}
