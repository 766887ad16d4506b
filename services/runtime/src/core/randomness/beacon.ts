import { createHash } from 'node:crypto';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { canonicalHash, type EntryRandomness, type HashedEntry, type JsonObject } from '@orrery/contracts';
import { z } from 'zod';
import { beaconSecret, type RandomSource, seedOf } from './seed.js';

/** A chain of a drand beacon: it signs each round at its time, and nobody knows a signature before. */
export interface BeaconChain {
  /** Names the chain: the hash of all that is below. */
  readonly hash: string;
  /** In hex: a point of G2, 96 bytes. */
  readonly publicKey: string;
  /** Seconds between rounds. */
  readonly period: number;
  /** When round 1 was signed, in seconds since 1970. */
  readonly genesis: number;
}

/** What `/info` of a drand server says of a chain. */
const chainInfo = z.object({
  public_key: z.string().regex(/^[0-9a-f]{192}$/),
  period: z.int().min(1).max(86_400),
  genesis_time: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
  groupHash: z.string().regex(/^(?:[0-9a-f]{2}){1,64}$/),
  schemeID: z.literal('bls-unchained-g1-rfc9380'),
  metadata: z.object({ beaconID: z.string().max(100) }),
});
export type ChainInfo = z.infer<typeof chainInfo>;

/** The League of Entropy's chain of a round every three seconds (drand.love). */
export const QUICKNET: ChainInfo = {
  public_key:
    '83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a',
  period: 3,
  genesis_time: 1_692_803_367,
  groupHash: 'f477d5c89f21a17c863a7f937c6a6d15859414d2be09cd448d4279af331c5d3e',
  schemeID: 'bls-unchained-g1-rfc9380',
  metadata: { beaconID: 'quicknet' },
};
export const QUICKNET_HASH = '52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971';

/** SHA-256 by which drand names a chain. */
export function hashOfChain({ period, genesis_time, public_key, groupHash, metadata }: ChainInfo): string {
  const times = Buffer.alloc(12);
  times.writeUInt32BE(period);
  times.writeBigInt64BE(BigInt(genesis_time), 4);
  const parts = [times, Buffer.from(public_key, 'hex'), Buffer.from(groupHash, 'hex')];
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.update(metadata.beaconID === 'default' ? '' : metadata.beaconID).digest('hex');
}

/** The chain that a server tells of; undefined: it is another one than `pinned`, or none of this scheme. */
export function chainOf(info: unknown, pinned: string): BeaconChain | undefined {
  const read = chainInfo.safeParse(info);
  if (!read.success || hashOfChain(read.data) !== pinned) return undefined;
  const { public_key: publicKey, period, genesis_time: genesis } = read.data;
  return { hash: pinned, publicKey, period, genesis };
}

/** A round of a chain, by the chain's hash. */
export interface FixedRound {
  readonly chain: string;
  readonly number: number;
}

/** When a round is signed, in milliseconds since 1970. */
export const timeOfRound = ({ genesis, period }: BeaconChain, round: number): number =>
  (genesis + (round - 1) * period) * 1000;

/**
 * The round of what is requested at `now`, in milliseconds since 1970: the first one that is signed a period later at least, so
 * that nobody knows it yet, also where the clock is late by that.
 */
export const roundFor = ({ genesis, period }: BeaconChain, now: number): number =>
  Math.max(1, Math.ceil((now / 1000 - genesis) / period) + 2);

/** A round, signed. */
export interface Beacon {
  /** The hash of the chain. */
  readonly chain: string;
  readonly round: number;
  /** In hex. */
  readonly signature: string;
}

/** A run draws from what nobody could know when it was requested: its seed is made of the round's signature. */
export const sourceOfBeacon = (beacon: Beacon, run: string, input: JsonObject): RandomSource => {
  let taken: EntryRandomness | undefined;
  const take = (): EntryRandomness => {
    const seed = seedOf(beaconSecret(beacon.signature), run, canonicalHash(input));
    return { source: 'drand', ...beacon, run, seed };
  };
  return { take: () => (taken ??= take()) };
};

/** Whether an entry's seed is made of the round that it names, and that round was signed after the run was requested. */
export function isSeedOfRound(
  chain: BeaconChain,
  { randomness, input }: Pick<HashedEntry, 'randomness' | 'input'>,
): boolean {
  const { run = '', round = 0, signature = '', seed } = randomness ?? {};
  return (
    timeOfRound(chain, round) > requestedAt(run) &&
    seedOf(beaconSecret(signature), run, canonicalHash(input)) === seed &&
    isSignatureOf(chain, round, signature)
  );
}

/** The time in the id of a run, a UUID of version 7, in milliseconds since 1970. */
const requestedAt = (run: string): number => Number.parseInt(run.replaceAll('-', '').slice(0, 12), 16);

const DST = { DST: 'BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_' };
const SIGNATURE = /^[0-9a-f]{96}$/;

/** Whether the chain has signed the round so: BLS12-381 with signatures on G1, over SHA-256 of the round. Takes about 30 ms. */
export function isSignatureOf({ publicKey }: BeaconChain, round: number, signature: string): boolean {
  if (!SIGNATURE.test(signature)) return false;
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(round));
  const message = createHash('sha256').update(bytes).digest();
  try {
    return bls12_381.verifyShortSignature(signature, message, publicKey, DST);
  } catch {
    // No point of the curve.
    return false;
  }
}
