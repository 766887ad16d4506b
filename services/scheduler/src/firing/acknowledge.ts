import { runtimeContract } from '@orrery/contracts';
import { keyOf } from '../core/occurrences/occurrence.js';
import type { SchedulerContext } from '../following/context.js';
import { endedUntil, noteAcknowledged } from '../store/occurrences/acknowledgements.js';
import { asSchedule } from './fire-occurrence.js';

/** Occurrences of one call; each has a key for each of its attempts. */
const OCCURRENCES = 300;

/**
 * The runtime keeps the keys of an occurrence this long after its end, in milliseconds. Until then an attempt that was
 * sent late, by a process that had stopped or through a connection that was down, gets its outcome. Later it is refused.
 */
const KEPT_MS = 10 * 60_000;

/**
 * Tells the runtime of occurrences whose outcomes are stored, so that it forgets their keys. It then refuses whatever came
 * before them, so the runs of a schedule are told of in their order. Resolves with whether there may be more.
 */
export async function acknowledgeEnded(
  { db, bus, clock, databaseNow }: SchedulerContext,
  signal: AbortSignal,
): Promise<boolean> {
  const ended = await endedUntil(db, (await databaseNow()) - KEPT_MS, OCCURRENCES);
  const [first] = ended;
  if (first === undefined) return false;
  const keys = ended.flatMap((one) =>
    Array.from({ length: one.attempt }, (_, index) => keyOf(one, index + 1)),
  );
  const rpc = runtimeContract.rpcs['executions.acknowledge'];
  await bus.call(rpc, { occurrences: keys }, asSchedule(first.event, clock, signal));
  await noteAcknowledged(
    db,
    ended.map(({ id }) => id),
  );
  return ended.length === OCCURRENCES;
}
