import { asServiceError, type JsonObject, type ServiceError, toErrorReply } from '@orrery/contracts';
import type { Execution } from '../execution/execution.js';
import type { DeploymentState, OpenRun } from '../state/deployment-state.js';
import type { KeyedEffect, RunEffect } from '../state/effects.js';
import type { ItemOutcome, WorkItem } from '../state/work-item.js';
import type { EntryDetails } from './conclude.js';
import { confirmVersion, executionOf, type ResolveDependencies, resolveEvent } from './execution-item.js';
import type { Confirmed, Resolved } from './execution-request.js';
import { acceptedAnswer, executionRequestOf, type RunRow, requestOf } from './run-row.js';

/** A run and what it executes now, in the current state of its deployment. */
export interface StepContext {
  readonly row: RunRow;
  readonly open: OpenRun;
  readonly resolved: Resolved;
  readonly state: DeploymentState;
  readonly execution: Execution;
  readonly details: EntryDetails;
  readonly now: number;
}

/**
 * One step of a run as an item of its deployment's lane, with the run's deadline. It ends a run that may not be executed
 * any more, and answers `undefined` for one that has ended meanwhile.
 */
export function runItem<T>(
  { catalog, limits }: ResolveDependencies,
  row: RunRow,
  signal: AbortSignal,
  decide: (context: StepContext) => ItemOutcome<T>,
): WorkItem<T | undefined> {
  const request = executionRequestOf(row);
  let confirmed: Confirmed;
  return {
    deploymentId: row.deployment_id,
    deadline: row.deadline.getTime(),
    signal,
    prepare: async (state) => {
      confirmed = await confirmVersion(catalog, state, request.event);
    },
    decide: (state, _ids, now) => {
      const open = state.runs.get(row.id);
      if (open === undefined) return { kind: 'answer', answer: undefined };
      try {
        const resolved = resolveEvent(state, request.event, confirmed);
        if (resolved === 'prepare') return { kind: 'prepare' };
        const execution = executionOf(resolved, state, request, requestOf(row), limits, now);
        const details = { elapsed: () => now - row.created_at.getTime() };
        return decide({ row, open, resolved, state, execution, details, now });
      } catch (error) {
        return refuseRun(row, asServiceError(error), now);
      }
    },
  };
}

/** Commits columns of the run's row; the run stays open. */
export const updateRun = <T>(
  { id }: RunRow,
  open: OpenRun,
  update: Extract<RunEffect['write'], { update: unknown }>['update'],
  reply: T,
): ItemOutcome<T> => ({
  kind: 'record',
  run: { id, open, write: { update } },
  settlement: { reply },
});

/** Ends the run together with the outcome: its entry and the end of its row are one commit. */
export function endRun<T>(row: RunRow, outcome: ItemOutcome<T>, now: number): ItemOutcome<T> {
  if (outcome.kind === 'refuse') return refuseRun(row, outcome.error, now);
  if (outcome.kind !== 'commit') return outcome;
  const key = keyOf(row);
  const run: RunEffect = { id: row.id, open: null, write: { update: { ended_at: new Date(now) } } };
  return { ...outcome, effects: { ...outcome.effects, run, ...(key && { key }) } };
}

/** Ends a run that has read nothing: only its row records the error, and its Idempotency-Key is free again. */
export const refuseRun = (row: RunRow, error: ServiceError, now: number): ItemOutcome<never> => ({
  kind: 'record',
  run: {
    id: row.id,
    open: null,
    write: {
      update: { ended_at: new Date(now), state: 'failed', error: toErrorReply(error) as JsonObject },
    },
  },
  settlement: { error },
});

function keyOf(row: RunRow): KeyedEffect | undefined {
  const { account_id: accountId, operation, key, request_hash: requestHash } = row;
  if (accountId === null || operation === null || key === null) return undefined;
  const keyed = { accountId, operation, key, requestHash };
  return requestOf(row).asynchronous ? { ...keyed, answer: { ...acceptedAnswer(row.id) } } : keyed;
}
