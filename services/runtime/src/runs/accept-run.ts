import { type CallContext, canonicalHash, type JsonObject, ServiceError } from '@orrery/contracts';
import type { RuntimeContext } from '../context.js';
import type { ExecutionRequest } from '../execution/execute-item.js';
import { resolveEvent } from '../execution/resolve-event.js';
import { answerOnce, type KeyedRequest } from '../idempotency/answer-once.js';
import type { OpenRun } from '../state/deployment-state.js';
import { keyIdOf } from '../state/deployment-state.js';
import type { ItemOutcome, WorkItem } from '../state/work-item.js';
import type { RunRequest } from './run-row.js';

export interface NewRun {
  readonly id: string;
  readonly request: ExecutionRequest;
  readonly keyed: KeyedRequest | undefined;
  readonly asynchronous: boolean;
  /** Ms since epoch. */
  readonly deadline: number;
}

/** Runs of one deployment that may be under way at the same time. */
const MAX_UNDER_WAY = 1000;

/** The run was taken on; anything else is what a repetition is answered. */
export const ACCEPTED = 'accepted';

/** Commits the row that claims the key. @throws `request_in_flight`, and what may not run anyway */
export function acceptItem(
  context: Pick<RuntimeContext, 'db' | 'clock'>,
  run: NewRun,
  call: CallContext,
): WorkItem<unknown> {
  const item: WorkItem<unknown> = {
    deploymentId: run.request.deploymentId,
    deadline: call.deadline,
    signal: call.signal,
    prepare: () => undefined,
    decide: (state, _ids, now) => {
      resolveEvent(state, run.request.event, undefined);
      if (state.runs.size >= MAX_UNDER_WAY)
        throw new ServiceError('overloaded', 'too many runs are under way');
      return accepted(run, call, new Date(now));
    },
  };
  const once = answerOnce(context, item, run.keyed);
  return {
    ...once,
    // Its commit was lost and had been written: the claim found is its own.
    decide: (state, ids, now) =>
      state.runs.has(run.id) ? { kind: 'answer', answer: ACCEPTED } : once.decide(state, ids, now),
  };
}

function accepted(run: NewRun, { caller }: CallContext, at: Date): ItemOutcome<unknown> {
  const { id, keyed, asynchronous, deadline, request } = run;
  const { deploymentId, event, input, trigger, walletAddress } = request;
  const stored: RunRequest = { event, input, trigger, walletAddress, caller, asynchronous };
  const requestHash = canonicalHash(keyed?.request ?? { event, input });
  const open: OpenRun = {
    id,
    claim: keyed === undefined ? null : { keyId: keyIdOf(keyed), requestHash },
    holds: null,
    staged: false,
  };
  const insert = {
    id,
    deployment_id: deploymentId,
    state: 'deciding' as const,
    request: { ...stored } as unknown as JsonObject,
    request_hash: requestHash,
    account_id: keyed?.accountId ?? null,
    operation: keyed?.operation ?? null,
    key: keyed?.key ?? null,
    deadline: new Date(deadline),
    created_at: at,
  };
  return { kind: 'record', run: { id, open, write: { insert } }, settlement: { reply: ACCEPTED } };
}
