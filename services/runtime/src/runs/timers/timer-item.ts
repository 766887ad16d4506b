import { asServiceError, type CallContext, MOST_IN_TREE, ServiceError } from '@orrery/contracts';
import { toCallError } from '@orrery/database';
import type { ItemOutcome, WorkItem } from '../../lane/items/work-item.js';
import { tooDeep } from '../../store/commit/stage-timers.js';
import { NotOwner } from '../../store/leases/leases.js';
import { type DeploymentState, isPaused } from '../../store/state/deployment-state.js';
import { type ExecutedTimer, pendingTimer, type TimerRow } from '../../store/state/timer-store.js';
import { type ExecuteDependencies, executionItem } from '../execute/execute.js';
import { failedTimer } from '../requests/failed-timer.js';

/** `executed`: its entry is committed. `run`: a run executes it. `gone`: it was executed, cancelled or replaced before. */
export type TimerOutcome = 'executed' | 'run' | 'gone' | 'paused';

/** A failure that passes, so that the timer is executed later. That no model is usable lasts until somebody changes it. */
export const isPassing = ({ code, retryable }: ServiceError): boolean =>
  retryable && code !== 'ai_model_unavailable' && code !== 'ai_output_invalid';

/**
 * The execution of a timer as an item of its deployment's lane, whose commit takes the timer away. It leaves an entry
 * whatever becomes of it, unless the deployment is paused or the failure passes: then the timer stays. The commit finds
 * that a timer is gone which memory still has; prepared again, the item finds so too.
 */
export function timerItem(
  dependencies: ExecuteDependencies,
  row: TimerRow,
  runId: string,
  call: CallContext,
): WorkItem<TimerOutcome> {
  const request = {
    deploymentId: row.deployment_id,
    event: row.event,
    input: row.input,
    trigger: 'timer' as const,
    walletAddress: null,
  };
  let timer = executedTimer(row, '');
  let item = executionItem(dependencies, request, { runId, asynchronous: false }, call);
  let preparations = 0;
  let failure: unknown;
  let isGone = false;
  return {
    ...item,
    ...(row.tree !== null && { turn: row.id }),
    // It never rejects, so that a follow-up without delay always gives its place up when it is decided.
    prepare: async (state) => {
      if (preparations === 0) {
        timer = executedTimer(row, state.row.address);
        const options = { runId, asynchronous: false, outlivesCall: true };
        item = executionItem(dependencies, { ...request, timer }, options, call);
      }
      preparations += 1;
      try {
        failure = undefined;
        if (preparations > 1)
          isGone = (await pendingTimer(dependencies.db, row.deployment_id, row.id)) === undefined;
        if (!isGone && !isPaused(state.row)) await item.prepare(state);
      } catch (error) {
        failure = error;
      }
    },
    decide: (state, ids, now) => {
      if (isGone || state.timers.isGone(row.id)) return { kind: 'answer', answer: 'gone' };
      if (isPaused(state.row)) return { kind: 'answer', answer: 'paused' };
      if ((row.number ?? 0) > MOST_IN_TREE) return failed(state, tooDeep(), now);
      if (failure !== undefined) return passedOrFailed(state, failure, now);
      try {
        const outcome = item.decide(state, ids, now);
        return outcome.kind === 'refuse' ? passedOrFailed(state, outcome.error, now) : ended(outcome);
      } catch (error) {
        return passedOrFailed(state, error, now);
      }
    },
  };

  function passedOrFailed(state: DeploymentState, error: unknown, now: number): ItemOutcome<TimerOutcome> {
    if (error instanceof NotOwner) throw error;
    const reason = error instanceof ServiceError ? error : toCallError(error);
    return isPassing(reason) ? { kind: 'refuse', error: reason } : failed(state, asServiceError(reason), now);
  }

  function failed(state: DeploymentState, error: ServiceError, now: number): ItemOutcome<TimerOutcome> {
    const version = state.bindings.get(row.event)?.eventVersion ?? null;
    return ended(failedTimer(row, timer, error, now, version));
  }

  /** Takes the timer away together with what the item commits. */
  function ended(outcome: ItemOutcome<unknown>): ItemOutcome<TimerOutcome> {
    const { id, key, tree } = timer;
    if (outcome.kind === 'commit') {
      const set = outcome.effects.timers ?? { planned: [], caller: row.caller, depth: row.depth };
      const timers = { ...set, ended: { id, key, tree, runId: null } };
      const effects = { ...outcome.effects, timers };
      return { kind: 'commit', effects, answer: () => ({ reply: 'executed' }) };
    }
    if (outcome.kind === 'record')
      return {
        ...outcome,
        timer: { timer: { id, key, tree }, runId, isTaken: true, dueAt: timer.dueAt },
        settlement: { reply: 'run' },
      };
    // An answer is that of a run that was accepted before.
    if (outcome.kind === 'answer') return { kind: 'answer', answer: 'run' };
    return outcome;
  }
}

const executedTimer = (row: TimerRow, deployment: string): ExecutedTimer => ({
  deployment,
  id: row.id,
  key: row.key,
  tree: row.tree,
  number: row.number,
  dueAt: row.due_at,
  cause: { seq: row.set_seq, index: row.set_index },
  depth: row.depth,
});
