import { randomBytes } from 'node:crypto';
import { canonicalHash, type EntryRandomness, type JsonObject, ServiceError } from '@orrery/contracts';
import { commitmentOf, type OpenCommitment, type RandomSource, seedOf } from '@orrery/deciding';
import { lifecycleEntry } from '../../core/deciding/lifecycle-entry.js';
import {
  commitmentsOf,
  committedTo,
  currentOf,
  openedBy,
  type RandomnessKeys,
  secretOf,
} from '../../core/randomness/secrets.js';
import type { Effects } from '../../store/commit/effects.js';
import type { DeploymentState } from '../../store/state/deployment-state.js';

const NONCE_BYTES = 16;
const SEED_BYTES = 32;

/** A run whose random numbers are drawn. */
interface DrawingRun {
  /** The same for each decision of it. */
  readonly run: string;
  readonly input: JsonObject;
  /** What an earlier decision of it has drawn from. */
  readonly earlier?: EntryRandomness | undefined;
  /** The seed of the entry that it replays. */
  readonly replayed?: string | undefined;
}

/**
 * Where an execution draws from: its seed is made of the secret that its deployment has committed to, or of a new one.
 * @throws `randomness_unavailable` where the operator has set no keys
 */
export function sourceFor(
  keys: RandomnessKeys,
  { row }: Pick<DeploymentState, 'row'>,
  { run, input, earlier, replayed }: DrawingRun,
): RandomSource {
  if (earlier !== undefined) return { take: () => earlier };
  if (replayed !== undefined) return { take: () => ({ source: 'replayed', seed: replayed }) };
  const [key] = keys;
  if (key === undefined) throw new ServiceError('randomness_unavailable', NO_KEYS);
  let made: OpenCommitment | undefined;
  let taken: EntryRandomness | undefined;
  const secret = (): Uint8Array => {
    const current = currentOf(commitmentsOf(row));
    const known = current && openedBy(keys, row.address, current);
    if (known !== undefined) return known;
    const nonce = randomBytes(NONCE_BYTES).toString('hex');
    const fresh = secretOf(key, row.address, nonce);
    made = { commitment: commitmentOf(fresh), nonce };
    return fresh;
  };
  const take = (): EntryRandomness => {
    const used = secret();
    const seed = seedOf(used, run, canonicalHash(input));
    return { source: 'deployment', commitment: commitmentOf(used), run, seed };
  };
  return { take: () => (taken ??= take()), commits: () => made };
}

const NO_KEYS =
  'The event draws random numbers, and the operator has set no RANDOMNESS_KEYS to make their secrets of.';

/** For a dry run: what it draws tells nothing of what an execution would draw. */
export function sourceForNothing(): RandomSource {
  const seed = randomBytes(SEED_BYTES).toString('hex');
  return { take: () => ({ source: 'replayed', seed }) };
}

/** The entry by which a deployment commits to a new secret, if it has to before this execution's. */
export function commitmentBefore(
  randomness: RandomSource,
  { row }: Pick<DeploymentState, 'row'>,
  now: number,
): Effects | undefined {
  const made = randomness.commits?.();
  if (made === undefined) return undefined;
  const facts = { commitment: made.commitment };
  const entry = lifecycleEntry('randomness_committed', row.address, RUNTIME, now, facts);
  return { entry, row: { randomness: committedTo(commitmentsOf(row), made) } };
}

const RUNTIME = { kind: 'service', service: 'runtime' } as const;
