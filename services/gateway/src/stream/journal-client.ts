import { type Bus, serviceCall } from '@orrery/bus';
import { type Cancellation, type JournalFact, runtimeContract } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';

/** The journal of a deployment, read as the gateway itself: the caller's access was checked when the stream opened. */
export interface JournalClient {
  after(
    deployment: string,
    seq: number,
    signal?: Cancellation,
  ): Promise<{ entries: JournalFact[]; head: number }>;
  /** The last seq of the journal; `known` is a seq that the journal contains. */
  headOf(deployment: string, known: number): Promise<number>;
}

const TIMEOUT_MS = 5000;
const PAGE = 100;

export function createJournalClient(bus: Pick<Bus, 'call'>, clock: Clock): JournalClient {
  const range = (deployment: string, after: number, limit: number, signal?: Cancellation) =>
    bus.call(
      runtimeContract.rpcs['journal.range'],
      { deployment, after, limit },
      serviceCall('gateway', clock, TIMEOUT_MS, signal),
    );
  return {
    after: (deployment, seq, signal) => range(deployment, seq, PAGE, signal),
    headOf: async (deployment, known) => (await range(deployment, known, 1)).head,
  };
}
