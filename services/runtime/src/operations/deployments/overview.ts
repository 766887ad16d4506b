import {
  type DeploymentOverview,
  type Handlers,
  OVERVIEW_SPANS,
  type OverviewSpan,
  type overviewRpcs,
} from '@orrery/contracts';
import type { SeenDeployment } from '../../store/deployments/deployment-directory.js';
import { countedTo, readActivity } from '../../store/journal/activity.js';
import { listHistory } from '../../store/journal/history.js';
import { headOf } from '../../store/journal/journal-store.js';
import { totalsOfPayments } from '../../store/runs/payment-store.js';
import { dayOf, readUsage } from '../../store/runs/usage-store.js';
import { waitingTimers } from '../../store/state/timer-store.js';
import type { RuntimeContext } from '../context.js';

/** It takes no slot of the other reads while executions are counted. */
export const overviewReads = ({
  db,
  clock,
  access,
  reading,
  countActivity,
}: RuntimeContext): Handlers<typeof overviewRpcs> => ({
  'deployments.overview': async ({ params, query: { of } }, { caller, signal }) => {
    const { deployment, head, done } = await reading.run(signal, async () => {
      const seen = await access.see(params, caller);
      const [{ seq }, counted] = await Promise.all([headOf(db, seen.id), countedTo(db, seen.id)]);
      return { deployment: seen, head: seq, done: counted };
    });
    if (done < head) await countActivity(deployment.id, head, signal);
    return reading.run(signal, async () => {
      const [executions, ofOwner] = await Promise.all([
        executionsOf(db, deployment, of, clock.now()),
        deployment.isOwner ? ownersPart(db, deployment.id, clock.now()) : STRANGERS_PART,
      ]);
      return { data: { ...executions, isBehind: executions.countedTo < head, ...ofOwner } };
    });
  },
});

type Db = RuntimeContext['db'];

async function executionsOf(db: Db, deployment: SeenDeployment, of: OverviewSpan, now: number) {
  const { stepSeconds, steps } = OVERVIEW_SPANS[of];
  const last = Math.floor(now / 1000 / stepSeconds) * stepSeconds;
  const from = last - (steps - 1) * stepSeconds;
  const [counted, activity, failed] = await Promise.all([
    countedTo(db, deployment.id),
    readActivity(db, deployment.id, { step: stepSeconds, from }),
    listHistory(db, deployment, { status: 'failed', limit: 1 }),
  ]);
  const byTime = new Map(activity.steps.map((one) => [one.at, one]));
  const all = Array.from({ length: steps }, (_, index) => {
    const at = from + index * stepSeconds;
    const { succeeded = 0, failed: wrong = 0 } = byTime.get(at) ?? {};
    return { at: new Date(at * 1000).toISOString(), succeeded, failed: wrong };
  });
  const { events, failures } = activity;
  const latestFailure = failureOf(failed.data[0], from);
  return { of, stepSeconds, steps: all, events, failures, latestFailure, countedTo: counted };
}

type Listed = Awaited<ReturnType<typeof listHistory>>['data'][number];

function failureOf(entry: Listed | undefined, from: number): DeploymentOverview['latestFailure'] {
  if (entry === undefined || Date.parse(entry.executedAt) < from * 1000) return null;
  const { seq, event, executedAt, error } = entry;
  const { code, detail } = error ?? {};
  return {
    seq,
    event: event ?? '',
    executedAt,
    code: String(code ?? 'internal'),
    detail: typeof detail === 'string' ? detail : null,
  };
}

type OwnersPart = Pick<DeploymentOverview, 'timers' | 'payments' | 'modelsUsdToday'>;
const STRANGERS_PART: OwnersPart = { timers: null, payments: null, modelsUsdToday: null };

async function ownersPart(db: Db, deploymentId: number, now: number): Promise<OwnersPart> {
  const today = dayOf(now);
  const [timers, payments, usage] = await Promise.all([
    waitingTimers(db, deploymentId),
    totalsOfPayments(db, deploymentId),
    readUsage(db, deploymentId, today, today),
  ]);
  return { timers, payments, modelsUsdToday: usage.reduce((sum, { usd }) => sum + usd, 0) };
}
