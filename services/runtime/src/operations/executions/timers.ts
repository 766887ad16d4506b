import { type Handlers, refuseDeepPage, ServiceError, type timerRpcs } from '@orrery/contracts';
import { isUuid } from '@orrery/deciding';
import { lifecycleEntry } from '../../core/deciding/lifecycle-entry.js';
import type { WorkItem } from '../../lane/items/work-item.js';
import type { OwnedHandlers } from '../../lane/ownership/route-to-owner.js';
import { listTimers, pendingTimer, readTimer, type TimerRow } from '../../store/state/timer-store.js';
import type { RuntimeContext } from '../context.js';

export const timerReads = ({
  db,
  access,
}: RuntimeContext): Handlers<Pick<typeof timerRpcs, 'timers.list' | 'timers.get'>> => ({
  'timers.list': async ({ params, query }, { caller }) => {
    const { id } = await access.ownedNow(params, caller);
    refuseDeepPage(query);
    return listTimers(db, id, query);
  },
  'timers.get': async ({ params }, { caller }) => {
    const { id } = await access.ownedNow(params, caller);
    const data = isUuid(params.timerId) ? await readTimer(db, id, params.timerId) : undefined;
    if (data === undefined) throw new ServiceError('timer_not_found');
    return { data };
  },
});

export const timerWrites = (
  context: RuntimeContext,
): OwnedHandlers<Pick<typeof timerRpcs, 'timers.cancel'>> => ({
  'timers.cancel': async (deployment, { params: { timerId } }, call) => {
    const { db, lanes } = context;
    if (!isUuid(timerId)) throw new ServiceError('timer_not_found');
    let row: TimerRow | undefined;
    const item: WorkItem<{ deleted: true }> = {
      deploymentId: deployment.id,
      deadline: call.deadline,
      signal: call.signal,
      prepare: async () => {
        row = await pendingTimer(db, deployment.id, timerId.toLowerCase());
      },
      decide: (state, _ids, now) => {
        if (row === undefined || state.timers.isGone(row.id)) throw new ServiceError('timer_not_found');
        const { id, event, due_at: dueAt, key, tree } = row;
        const facts = { timerId: id, event, dueAt, key, cause: { seq: row.set_seq, index: row.set_index } };
        const entry = lifecycleEntry('timer_cancelled', state.row.address, call.caller, now, facts);
        const ended = { id, key, tree, runId: null };
        const timers = { planned: [], caller: call.caller, depth: row.depth, ended };
        return { kind: 'commit', effects: { entry, timers }, answer: () => ({ reply: { deleted: true } }) };
      },
    };
    return { data: await lanes.submit(item) };
  },
});
