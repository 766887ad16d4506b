import {
  type AiUsage,
  type aiModelRpcs,
  type aiUsageRpcs,
  fieldProblem,
  type Handlers,
  MAX_USAGE_DAYS,
  paginationOf,
  refuseDeepPage,
  refusedHttp,
} from '@orrery/contracts';
import type { ModelList } from '../../core/prompting/model.js';
import { dayOf, readUsage } from '../../store/runs/usage-store.js';
import type { RuntimeContext } from '../context.js';

/** Also of a deleted deployment: its models have cost what they have cost. */
export const usageReads = ({ db, clock, access }: RuntimeContext): Handlers<typeof aiUsageRpcs> => ({
  'deployments.usage': async ({ params, query }, { caller }) => {
    const { id } = await access.ownedHere(params, caller);
    const { from, to } = rangeOf(query, clock.now());
    const days = await readUsage(db, id, from, to);
    return { data: { from, to, totals: totalsOf(days), days } };
  },
});

const DAY_MS = 24 * 60 * 60 * 1000;
const DEFAULT_DAYS = 30;

function rangeOf({ from, to = '' }: Partial<Record<'from' | 'to', string | undefined>>, now: number) {
  const last = to === '' ? Math.max(Date.parse(dayOf(now)), Date.parse(from ?? dayOf(now))) : Date.parse(to);
  const first = from === undefined ? last - (DEFAULT_DAYS - 1) * DAY_MS : Date.parse(from);
  if (first > last) throw refused('The first day comes after the last.');
  if (last - first >= MAX_USAGE_DAYS * DAY_MS)
    throw refused(`At most ${MAX_USAGE_DAYS} days can be asked for at once.`);
  return { from: dayOf(first), to: dayOf(last) };
}

const refused = (message: string) => refusedHttp([fieldProblem('/query/from', 'invalid', message)]);

function totalsOf(days: AiUsage['days']): AiUsage['totals'] {
  const totals = { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0 };
  for (const day of days) {
    totals.calls += day.calls;
    totals.inputTokens += day.inputTokens;
    totals.outputTokens += day.outputTokens;
    totals.usd += day.usd;
  }
  return totals;
}

export const modelHandlers = ({ models }: { models: ModelList }): Handlers<typeof aiModelRpcs> => ({
  'aiModels.list': async ({ query }) => {
    refuseDeepPage(query);
    const before = (query.page - 1) * query.limit;
    const shown = models.offered.slice(before, before + query.limit);
    return {
      data: shown.map(({ record }) => record),
      pagination: paginationOf(query, models.offered.length),
    };
  },
});
