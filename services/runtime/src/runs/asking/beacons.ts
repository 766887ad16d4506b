import { parseJson, ServiceError } from '@orrery/contracts';
import { type BeaconChain, chainOf, isSignatureOf, QUICKNET, timeOfRound } from '@orrery/deciding';
import { type Clock, createMeter, type Logger } from '@orrery/service-kit';
import type { Beacon, FixedRound } from '../../core/randomness/beacon.js';
import { readBounded } from './bounded-fetch.js';

export interface BeaconConfig {
  /** Of a drand server. */
  readonly url: string;
  /** The chain that it has to be. */
  readonly chainHash: string;
}

/** Milliseconds that a server has to answer. */
const ANSWER_MS = 5000;
const MOST_BYTES = 16_384;
/** Rounds in memory: executions of the same seconds have the same one. */
const KEPT_ROUNDS = 100;

export type Beacons = ReturnType<typeof createBeacons>;

/** The rounds of one chain, each asked for and verified once for all runs that wait for it. */
export function createBeacons(
  { url, chainHash }: BeaconConfig,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
) {
  const failures = createMeter('runtime').createCounter('orrery_runtime_beacon_failures', {
    description: 'Times that the beacon gave no round, or one that its chain has not signed',
  });
  const rounds = new Map<number, Promise<Beacon>>();
  let known = chainOf(QUICKNET, chainHash);
  const read = async (path: string): Promise<unknown> => {
    const address = `${url.replace(/\/$/, '')}/${chainHash}/${path}`;
    const response = await fetch(address, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'error' });
    if (!response.ok) throw new Error(`the beacon answered with the status ${response.status}`);
    const body = await readBounded(response.body, MOST_BYTES, tooLong);
    return parseJson(body.toString('utf8'));
  };
  const chain = async (): Promise<BeaconChain> => {
    known ??= chainOf(await read('info').catch(unavailable), chainHash);
    return (
      known ?? unavailable(new Error(`the server has no chain ${chainHash} of the scheme that is known`))
    );
  };
  const unavailable = (error: unknown): never => {
    failures.add(1);
    logger.warn({ err: error }, 'the beacon gave no round');
    throw beaconAway(error);
  };
  const ask = async (round: number): Promise<Beacon> => {
    const { hash, ...of } = await chain();
    const answer = (await read(`public/${round}`).catch(unavailable)) as Record<string, unknown> | null;
    const signature = String(answer?.['signature'] ?? '');
    if (answer?.['round'] !== round || !(await isSignatureOf({ hash, ...of }, round, signature)))
      return unavailable(new Error(`round ${round} is not signed by the chain`));
    return { chain: hash, round, signature };
  };
  return {
    /** The chain, which is asked for once unless it is quicknet. @throws `randomness_unavailable` */
    chain,
    /** The chain if it is known already. */
    knownChain: (): BeaconChain | undefined => known,
    /** A round, once it is signed. @throws `randomness_unavailable`, or the signal's reason */
    round: async ({ chain: named, number: round }: FixedRound, signal: AbortSignal): Promise<Beacon> => {
      if (named !== chainHash)
        return unavailable(new Error(`the run waits for a round of the chain ${named}`));
      const wait = timeOfRound(await chain(), round) - clock.now();
      if (wait > 0) await clock.sleep(wait, signal);
      const found = rounds.get(round) ?? ask(round);
      rounds.set(round, found);
      found.catch(() => rounds.delete(round));
      for (const old of rounds.keys()) if (rounds.size > KEPT_ROUNDS) rounds.delete(old);
      return found;
    },
  };
}

const tooLong = () => new Error('the beacon gave an answer that is too long');

export const beaconAway = (cause?: unknown): ServiceError =>
  new ServiceError(
    'randomness_unavailable',
    'The beacon of the random numbers gave no round that could be verified in time.',
    { cause },
  );
