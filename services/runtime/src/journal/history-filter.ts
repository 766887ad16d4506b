import {
  type ExecutionStatus,
  type ExecutionTrigger,
  executionStatus,
  executionTrigger,
  type HistoryQuery,
} from '@orrery/contracts';

/** What a history list is narrowed to; absent: not narrowed. */
export interface HistoryFilter {
  event?: string;
  status?: ExecutionStatus;
  trigger?: ExecutionTrigger;
  instance?: { entitySchema: string; instanceId: string };
  /** The whole journal. Only what has an event, a status or a trigger passes those, so only executions do. */
  all: boolean;
}

export function filterOf(query: HistoryQuery): HistoryFilter {
  const { event, status, trigger, instance } = query;
  return {
    ...(event !== undefined && { event }),
    ...(status !== undefined && { status }),
    ...(trigger !== undefined && { trigger }),
    ...(instance !== undefined && { instance: splitKey(instance.normalize('NFC')) }),
    all: query.include === 'all' && event === undefined && status === undefined && trigger === undefined,
  };
}

function splitKey(key: string): { entitySchema: string; instanceId: string } {
  const colon = key.indexOf(':');
  return { entitySchema: key.slice(0, colon), instanceId: key.slice(colon + 1) };
}

/** An outcome that an execution may have; the journal is indexed by it. */
export interface Outcome {
  trigger: ExecutionTrigger;
  status: ExecutionStatus;
}

/** The outcomes that a filter lets through: at most six. */
export const outcomesOf = (filter: HistoryFilter): Outcome[] =>
  (filter.trigger === undefined ? executionTrigger.options : [filter.trigger]).flatMap((trigger) =>
    (filter.status === undefined ? executionStatus.options : [filter.status]).map((status) => ({
      trigger,
      status,
    })),
  );

/** The total that the counters know (`entries`, `<trigger>_<status>`); `undefined` where they do not reach. */
export function countedTotal(
  filter: HistoryFilter,
  totals: Readonly<Record<string, number>>,
): number | undefined {
  if (filter.event !== undefined || filter.instance !== undefined) return undefined;
  if (filter.all) return totals['entries'] ?? 0;
  return outcomesOf(filter).reduce(
    (sum, { trigger, status }) => sum + (totals[`${trigger}_${status}`] ?? 0),
    0,
  );
}
