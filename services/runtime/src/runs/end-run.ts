import { type JsonObject, type ServiceError, toErrorReply } from '@orrery/contracts';
import type { KeyedEffect, RunEffect } from '../state/effects.js';
import type { ItemOutcome } from '../state/work-item.js';
import { acceptedAnswer } from './run-answer.js';
import { type RunRow, requestOf } from './run-row.js';

/** The run ends with what is decided: with its entry in one commit, or without one where it was refused. */
export function endingRun<T>(row: RunRow, decision: ItemOutcome<T>, now: number): ItemOutcome<unknown> {
  const at = new Date(now);
  if (decision.kind === 'refuse') return refusedRun(row, decision.error, at);
  if (decision.kind !== 'commit') return decision;
  const key = keyOf(row);
  const run: RunEffect = { id: row.id, open: null, write: { update: { ended_at: at } } };
  return { ...decision, effects: { ...decision.effects, run, ...(key && { key }) } };
}

/** Nothing was read, so nothing but the row tells of it; its key is free again. */
export const refusedRun = (row: RunRow, error: ServiceError, at: Date): ItemOutcome<unknown> => ({
  kind: 'record',
  run: {
    id: row.id,
    open: null,
    write: { update: { ended_at: at, state: 'failed', error: toErrorReply(error) as JsonObject } },
  },
  settlement: { error },
});

function keyOf(row: RunRow): KeyedEffect | undefined {
  const { account_id: accountId, operation, key, request_hash: requestHash } = row;
  if (accountId === null || operation === null || key === null) return undefined;
  const keyed = { accountId, operation, key, requestHash };
  return requestOf(row).asynchronous ? { ...keyed, answer: { ...acceptedAnswer(row.id) } } : keyed;
}
