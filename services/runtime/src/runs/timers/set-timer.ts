import {
  type CallContext,
  durationMs,
  type JsonObject,
  LEAST_DELAY_MS,
  MOST_DELAY_MS,
  ServiceError,
  type TimerAnswer,
  timeMs,
} from '@orrery/contracts';
import type { KeyedRequest } from '@orrery/database';
import { recordTimers, refuseInput, timerIdOf } from '@orrery/deciding';
import { lifecycleEntry } from '../../core/deciding/lifecycle-entry.js';
import { keyedItem } from '../../lane/items/once-item.js';
import type { WorkItem } from '../../lane/items/work-item.js';
import { checkPlan } from '../../store/commit/stage-timers.js';
import { type Confirmed, confirmVersion, resolveEvent } from '../requests/resolve-event.js';
import type { RunDependencies } from '../requests/run-dependencies.js';

/** A request to execute an event later. */
export interface TimerRequest {
  readonly deploymentId: number;
  readonly event: string;
  readonly input: JsonObject;
  readonly after?: string | undefined;
  readonly at?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * Sets a timer as an item of the deployment's lane. What is bound now is not what will be executed; that it could be is
 * checked so that a mistake is told to who makes it.
 * @throws `event_not_bound`, `invalid_input`, `too_many_timers`, `deployment_paused`
 */
export function setTimer(
  { db, catalog, limits, lanes }: RunDependencies,
  request: TimerRequest,
  keyed: KeyedRequest | undefined,
  call: CallContext,
): Promise<TimerAnswer> {
  const { deploymentId, event, input, key = null } = request;
  let confirmed: Confirmed | undefined;
  const item: WorkItem<TimerAnswer> = {
    deploymentId,
    deadline: call.deadline,
    signal: call.signal,
    prepare: async (state) => {
      confirmed = await confirmVersion(catalog, state, { event });
    },
    decide: (state, _ids, now) => {
      const resolved = resolveEvent(state, { event, trigger: 'admin' }, confirmed);
      if (resolved === 'prepare') return { kind: 'prepare' };
      refuseInput(resolved.definition, input, limits);
      const planned = [{ event, input, dueAt: dueAt(request, now), isNext: false, key }];
      const timerKeys = checkPlan(state, planned);
      if (timerKeys.length > 0) return { kind: 'needs', needs: { timerKeys } };
      const due = new Date(dueAt(request, now)).toISOString();
      const draft = lifecycleEntry('timer_set', state.row.address, call.caller, now, {
        event,
        input,
        dueAt: due,
        key,
      });
      const entry = { ...draft, recorded: { timers: recordTimers(draft.id, planned) } };
      const answer = { timerId: timerIdOf(draft.id, 0), event, dueAt: due, key };
      return {
        kind: 'commit',
        effects: { entry, timers: { planned, caller: call.caller, depth: 1 } },
        answer: ({ seq }) => ({ reply: { ...answer, seq } }),
      };
    },
  };
  return lanes.submit(keyedItem(db, item, keyed));
}

/** The contract has checked both texts. @throws `validation_failed` */
function dueAt({ after, at }: Pick<TimerRequest, 'after' | 'at'>, now: number): number {
  const delay = after === undefined ? (timeMs(at ?? '') ?? now) - now : (durationMs(after) ?? 0);
  if (delay > MOST_DELAY_MS) throw new ServiceError('invalid_follow_up', 'A timer waits at most 3,650 days.');
  return now + Math.max(LEAST_DELAY_MS, delay);
}
