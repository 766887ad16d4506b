import { setMaxListeners } from 'node:events';
import type { JournalFact } from '@orrery/contracts';
import { backoffDelay, createSemaphore, outsideTraces } from '@orrery/service-kit';
import type { CatchUp } from './catch-up.js';
import type { FollowJournalOptions } from './options.js';
import { EntryFailed, type TakeEntry } from './take-entry.js';

/** Makes an entry a dead letter. */
export type PutAside = (failed: EntryFailed) => Promise<void>;

const RETRY = { baseMs: 500, maxMs: 60_000 };
/** Deployments that catch up at once in this process. */
const CATCHING_UP = 16;

interface StreamDependencies
  extends Pick<FollowJournalOptions<never>, 'consumer' | 'clock' | 'logger' | 'retryBaseMs' | 'signal'> {
  readonly take: TakeEntry;
  readonly catchUp: CatchUp;
  readonly putAside: PutAside;
}

/** The deployments that this process works on, or that wait for their next attempt. */
export interface Streams {
  /** Tries a delivered entry if nothing else is done for its deployment. Never rejects. */
  deliver(entry: JournalFact): Promise<void>;
  /** Has a deployment catch up, if nothing is done for it already. */
  wake(deployment: string): void;
  readonly count: number;
  /** Those of them that pause after a failure. */
  readonly pausing: number;
  ended(): Promise<void>;
}

/** What an attempt led to; `behind`: entries are missing. */
type Outcome = 'current' | 'behind' | { readonly error: unknown };

export function createStreams({
  take,
  catchUp,
  putAside,
  consumer,
  clock,
  logger,
  retryBaseMs,
  signal,
}: StreamDependencies): Streams {
  /** `again`: something came meanwhile. */
  const busy = new Map<string, { again: boolean }>();
  const work = new Set<Promise<void>>();
  let pausing = 0;
  const slots = createSemaphore(CATCHING_UP);
  // Each deployment that waits listens.
  setMaxListeners(0, signal);
  const backoff = { ...RETRY, baseMs: retryBaseMs ?? RETRY.baseMs };

  const enter = (deployment: string) => {
    const known = busy.get(deployment);
    if (known !== undefined) known.again = true;
    else busy.set(deployment, { again: false });
    return known === undefined && !signal.aborted;
  };
  /** Makes a dead letter, or pauses. Resolves with whether to catch up then. */
  const afterFailure = async (deployment: string, error: unknown, failures: number): Promise<boolean> => {
    const seq = error instanceof EntryFailed ? error.entry.seq : undefined;
    logger.warn({ err: error, consumer, deployment, seq, failures }, 'a journal was not followed');
    if (error instanceof EntryFailed && error.isFinal) {
      const isAside = await putAside(error).then(
        () => true,
        () => false,
      );
      if (isAside) return false;
    }
    pausing += 1;
    await clock.sleep(backoffDelay(failures, backoff), signal).finally(() => {
      pausing -= 1;
    });
    return true;
  };
  const goOn = async (deployment: string, first: Outcome) => {
    const stream = busy.get(deployment);
    let failures = 0;
    for (let outcome = first; stream !== undefined && (outcome !== 'current' || stream.again); ) {
      stream.again = false;
      if (typeof outcome === 'object') {
        failures += 1;
        if (!(await afterFailure(deployment, outcome.error, failures))) {
          outcome = 'current';
          continue;
        }
      }
      outcome = await slots.run(signal, () => catchUp(deployment)).then(current, failed);
      if (outcome === 'current') failures = 0;
    }
    busy.delete(deployment);
  };
  const background = (deployment: string, outcome: Outcome) => {
    // What is caught up with belongs to other traces than the entry that shows that something is missing.
    const going = outsideTraces(() => goOn(deployment, outcome))
      // Only the end of the following.
      .catch(() => undefined)
      .finally(() => work.delete(going));
    work.add(going);
  };
  return {
    get count() {
      return busy.size;
    },
    get pausing() {
      return pausing;
    },
    deliver: async (entry) => {
      if (!enter(entry.deployment)) return;
      background(
        entry.deployment,
        await take(entry).then((step) => (isCurrent(step, entry) ? 'current' : 'behind'), failed),
      );
    },
    wake: (deployment) => {
      if (enter(deployment)) background(deployment, 'behind');
    },
    ended: async () => {
      await Promise.all(work);
    },
  };
}

const current = (): Outcome => 'current';
/** Whether the journal itself need not be read. A `tail_lost` may replace an entry that was handled. */
const isCurrent = (step: Awaited<ReturnType<TakeEntry>>, { kind }: JournalFact) =>
  step === 'next' || step === 'stopped' || (step === 'seen' && kind !== 'tail_lost');
const failed = (error: unknown): Outcome => ({ error });
