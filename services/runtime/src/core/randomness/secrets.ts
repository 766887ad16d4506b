import { hkdfSync } from 'node:crypto';
import { canonicalHash, type HashedEntry } from '@orrery/contracts';
import { commitmentOf, type OpenCommitment, seedOf } from '@orrery/deciding';

/** What a deployment has committed to; the last one is in use if there is a current one. */
export interface Commitments {
  readonly open: readonly OpenCommitment[];
  readonly hasCurrent: boolean;
}

export const NO_COMMITMENTS: Commitments = { open: [], hasCurrent: false };

/** Secrets of a deployment that are not revealed. There is one, unless the database or the operator lost something. */
const MOST_OPEN = 100;

/** Those after a new secret, which is in use from now on. */
export const committedTo = ({ open }: Commitments, made: OpenCommitment): Commitments => ({
  open: [...open, made].slice(-MOST_OPEN),
  hasCurrent: true,
});

export const currentOf = ({ open, hasCurrent }: Commitments): OpenCommitment | undefined =>
  hasCurrent ? open.at(-1) : undefined;

export const commitmentsOf = ({ randomness }: { readonly randomness: Commitments | null }): Commitments =>
  randomness ?? NO_COMMITMENTS;

/** The operator's keys, of which secrets of deployments are derived: the first from now on. */
export type RandomnessKeys = readonly Uint8Array[];

/** HKDF-SHA256 of a key of the operator, in 32 bytes: another for each deployment and nonce. */
export const secretOf = (key: Uint8Array, deployment: string, nonce: string): Uint8Array =>
  new Uint8Array(
    hkdfSync('sha256', key, Buffer.from(nonce, 'hex'), `orrery randomness of ${deployment}`, 32),
  );

/** The secret that a deployment has committed to; undefined: its key is gone. */
export const openedBy = (
  keys: RandomnessKeys,
  deployment: string,
  { commitment, nonce }: OpenCommitment,
): Uint8Array | undefined =>
  keys.map((key) => secretOf(key, deployment, nonce)).find((secret) => commitmentOf(secret) === commitment);

/** A secret of a deployment, as far as it is known, and the entries between which seeds may be made of it. */
export interface KnownSecret {
  readonly committed: number;
  /** Undefined: it is not revealed. */
  readonly revealed?: number;
  /** Undefined: its key is gone. */
  readonly secret?: Uint8Array;
}

/**
 * Whether an entry's seed is made of the secret that the journal had committed to by then, for its run and its input; undefined:
 * the secret is not known, which refutes nothing.
 */
export function isSeedOf(
  secrets: ReadonlyMap<string, KnownSecret>,
  { seq, randomness, input }: Pick<HashedEntry, 'seq' | 'randomness' | 'input'>,
): boolean | undefined {
  const { commitment = '', run = '', seed } = randomness ?? {};
  const known = secrets.get(commitment);
  if (known === undefined || known.committed >= seq || (known.revealed ?? seq + 1) <= seq) return false;
  return known.secret && seedOf(known.secret, run, canonicalHash(input)) === seed;
}
