import { type Bus, serviceCall } from '@orrery/bus';
import { runtimeContract } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import { CONSUMER } from '../store/lanes/dead-letters.js';
import { type DueHead, postponeHead, settleHead, takeDueHeads } from '../store/lanes/head-store.js';
import type { Db } from '../store/tables/schema.js';

interface HeadReading {
  readonly db: Db;
  readonly bus: Pick<Bus, 'call'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pollMs: number;
  /** A lane of this chain can go on. */
  readonly wake: (chain: string) => void;
}

const AT_ONCE = 20;
const CALL_TIMEOUT_MS = 10_000;
/** Pauses before a head is asked for again: one that cannot be told yet, and one whose reading failed. */
const SOON_MS = 1000;
const LATER_MS = 15_000;
/** A head that was taken by a process that stopped is asked for by another one after so long. */
const TAKEN_MS = 15_000;

/** Asks the runtime for the heads of hours that are over: of several processes, each for what it has taken. */
export function startReadingHeads(reading: HeadReading): PollLoop {
  const { db, clock, logger, pollMs } = reading;
  return startPollLoop({
    name: 'heads to push',
    intervalMs: pollMs,
    clock,
    logger,
    runOnce: async (signal) => {
      const due = await takeDueHeads(db, AT_ONCE, TAKEN_MS);
      for (const one of due) {
        signal.throwIfAborted();
        const pauseMs = await readHead(reading, one, signal).catch((error: unknown) => {
          if (signal.aborted) throw error;
          logger.warn({ err: error, ...one }, 'the head of an hour cannot be read');
          return LATER_MS;
        });
        if (pauseMs !== undefined) await postponeHead(db, one, pauseMs);
      }
      return due.length < AT_ONCE ? 'idle' : 'more';
    },
  });
}

/** Resolves with the pause after which it is to be read again; undefined: it is done. */
async function readHead(
  { db, bus, clock, wake }: HeadReading,
  due: DueHead,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { deployment, fromSeq: from, before } = due;
  const { head } = await bus.call(
    runtimeContract.rpcs['journal.headBefore'],
    { deployment, from, before },
    serviceCall('chain-pusher', clock, CALL_TIMEOUT_MS, signal),
  );
  if (head === null) return SOON_MS;
  if (!(await transaction(db, (trx) => settleHead(trx, due, head, CONSUMER)))) return SOON_MS;
  wake(due.chain);
  return undefined;
}
