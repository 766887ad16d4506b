import type { Bus } from '@orrery/bus';
import { journalHeads, pushResult } from '@orrery/contracts';
import { type Clock, type Logger, startPollLoop } from '@orrery/service-kit';
import type { CallOperation } from '../core/requests/operation.js';
import type { KeyVerifier } from '../http/access/key-verifier.js';
import { streamDeployment } from './stream-deployment.js';
import type { StreamHandler } from './stream-route.js';
import { createHeadWatch, createJournalClient, createPushWatch } from './watches.js';
import { createWhileUsed, type WhileUsed } from './while-used.js';

/** Milliseconds after its commit at which an execution is seen at the latest if its broadcast is lost. */
const POLL_MS = 2000;

export interface StreamsContext {
  bus: Pick<Bus, 'call' | 'listen'>;
  call: CallOperation;
  keys: KeyVerifier;
  clock: Clock;
  logger: Logger;
  deadlineMs: number;
}

/**
 * Starts what live streams share: the subscription to journal heads, and one poll of each followed journal for any
 * number of streams. Both run while any stream is open.
 */
export function startStreams(context: StreamsContext): StreamHandler {
  const { bus, clock, logger } = context;
  const journal = createJournalClient(bus, clock);
  const heads = createHeadWatch(journal.headOf);
  const pushes = createPushWatch();
  const runOnce = async () => {
    await heads.poll();
    return 'idle' as const;
  };
  /** Also while broadcasts are unavailable. */
  const whilePolling = createWhileUsed(
    async (signal) => {
      startPollLoop({ name: 'live streams', intervalMs: POLL_MS, runOnce, clock, logger, signal });
    },
    () => undefined,
  );
  const whileHearing = createWhileUsed(
    async (signal) => {
      await bus.listen(journalHeads, (grown) => heads.onHeads(grown.heads), signal);
      await bus.listen(pushResult, pushes.onChanged, signal);
    },
    (err) => logger.warn({ err }, 'broadcasts unavailable; live streams poll every 2 s and lack pushes'),
  );
  const whileListening: WhileUsed = (work) => whilePolling(() => whileHearing(work));
  return streamDeployment({ ...context, journal, heads, pushes, whileListening });
}
