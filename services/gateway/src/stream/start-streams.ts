import type { Bus } from '@orrery/bus';
import { type Clock, type Logger, type Resources, startPollLoop } from '@orrery/service-kit';
import type { KeyVerifier } from '../accounts/key-verifier.js';
import type { StreamHandler } from '../http/add-stream-route.js';
import type { CallOperation } from '../http/routed-rpc.js';
import { createHeadWatch } from './head-watch.js';
import { createJournalClient } from './journal-client.js';
import { streamDeployment } from './stream-deployment.js';

/** How long after its commit an execution may be seen, in milliseconds. */
const LOOK_MS = 250;

export interface StreamsContext {
  bus: Pick<Bus, 'call'>;
  call: CallOperation;
  keys: KeyVerifier;
  clock: Clock;
  logger: Logger;
  deadlineMs: number;
  resources: Resources;
}

/** Starts what live streams share: one look at each followed journal, however many follow it. */
export function startStreams(context: StreamsContext): StreamHandler {
  const { bus, clock, logger, resources } = context;
  const journal = createJournalClient(bus, clock);
  const heads = createHeadWatch(journal.headOf);
  const runOnce = async () => {
    await heads.look();
    return 'idle' as const;
  };
  const looking = startPollLoop({ name: 'live streams', intervalMs: LOOK_MS, runOnce, clock, logger });
  resources.add('live streams', () => looking.stop());
  return streamDeployment({ ...context, journal, heads });
}
