import type { Bus } from '@orrery/bus';
import { journalHeads } from '@orrery/contracts';
import { type Clock, type Logger, type Resources, startPollLoop } from '@orrery/service-kit';
import type { KeyVerifier } from '../accounts/key-verifier.js';
import type { StreamHandler } from '../http/request/stream-route.js';
import type { CallOperation } from '../operations/operation.js';
import { createHeadWatch } from './head-watch.js';
import { createJournalClient } from './journal-client.js';
import { streamDeployment } from './stream-deployment.js';
import { createWhileUsed } from './while-used.js';

/** Milliseconds after its commit at which an execution is seen at the latest if its broadcast is lost. */
const POLL_MS = 2000;

export interface StreamsContext {
  bus: Pick<Bus, 'call' | 'listen'>;
  call: CallOperation;
  keys: KeyVerifier;
  clock: Clock;
  logger: Logger;
  deadlineMs: number;
  resources: Resources;
}

/**
 * Starts what live streams share: the subscription to journal heads while any stream is open, and one poll of each
 * followed journal for any number of streams.
 */
export function startStreams(context: StreamsContext): StreamHandler {
  const { bus, clock, logger, resources } = context;
  const journal = createJournalClient(bus, clock);
  const heads = createHeadWatch(journal.headOf);
  const whileListening = createWhileUsed(
    (signal) => bus.listen(journalHeads, (grown) => heads.onHeads(grown.heads), signal),
    (err) => logger.warn({ err }, 'journal-head broadcasts unavailable; live streams poll every 2 s'),
  );
  const runOnce = async () => {
    await heads.poll();
    return 'idle' as const;
  };
  const polling = startPollLoop({ name: 'live streams', intervalMs: POLL_MS, runOnce, clock, logger });
  resources.add('live streams', () => polling.stop());
  return streamDeployment({ ...context, journal, heads, whileListening });
}
