import { placeOf } from '../idempotency/answer-once.js';
import type { Holds, OpenRun } from './open-run.js';

/** A run under way as its deployment's state is read with it. */
export interface OpenRunRow {
  readonly id: string;
  readonly state: string;
  readonly holds: Holds | null;
  readonly accountId: number | null;
  readonly operation: string | null;
  readonly key: string | null;
  readonly requestHash: string;
}

/** A new owner knows from the first item on what the runs hold. */
export const openRunOf = ({ id, state, holds, requestHash, ...claim }: OpenRunRow): OpenRun => ({
  id,
  claim: claimOf(claim, requestHash),
  holds,
  staged: state === 'staged',
});

function claimOf(
  { accountId, operation, key }: Pick<OpenRunRow, 'accountId' | 'operation' | 'key'>,
  requestHash: string,
): OpenRun['claim'] {
  if (accountId === null || operation === null || key === null) return null;
  return { place: placeOf({ accountId, operation, key }), requestHash };
}
