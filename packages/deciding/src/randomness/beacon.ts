import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalHash, type HashedEntry } from '@orrery/contracts';
import { z } from 'zod';
import { beaconSecret, bytesOf, seedOf } from './seed.js';

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
  const times = new DataView(new ArrayBuffer(12));
  times.setUint32(0, period);
  times.setBigInt64(4, BigInt(genesis_time));
  const id = metadata.beaconID === 'default' ? '' : metadata.beaconID;
  const parts = [new Uint8Array(times.buffer), bytesOf(public_key), bytesOf(groupHash), utf8ToBytes(id)];
  return bytesToHex(sha256(concatBytes(...parts)));
}

/** The chain that a server tells of; undefined: it is another one than `pinned`, or none of this scheme. */
export function chainOf(info: unknown, pinned: string): BeaconChain | undefined {
  const read = chainInfo.safeParse(info);
  if (!read.success || hashOfChain(read.data) !== pinned) return undefined;
  const { public_key: publicKey, period, genesis_time: genesis } = read.data;
  return { hash: pinned, publicKey, period, genesis };
}

/** When a round is signed, in milliseconds since 1970. */
export const timeOfRound = ({ genesis, period }: BeaconChain, round: number): number =>
  (genesis + (round - 1) * period) * 1000;

/**
 * The most milliseconds from a request until its round is signed: it is accepted within ten minutes, and waits for as long.
 * The rest is for clocks that differ.
 */
const LATEST_ROUND_MS = 30 * 60_000;

/**
 * Tells whether an entry's seed is made of the round that it names, and that round was signed soon after the run was requested. It
 * remembers the last signature, since many executions draw from one round.
 */
export function createRoundCheck(chain: BeaconChain) {
  let last = { round: 0, signature: '', isSigned: Promise.resolve(false) };
  const isSigned = (round: number, signature: string): Promise<boolean> => {
    if (round !== last.round || signature !== last.signature)
      last = { round, signature, isSigned: isSignatureOf(chain, round, signature) };
    return last.isSigned;
  };
  return async ({ randomness, input }: Pick<HashedEntry, 'randomness' | 'input'>): Promise<boolean> => {
    const { run = '', round = 0, signature = '', seed } = randomness ?? {};
    const wait = timeOfRound(chain, round) - requestedAt(run);
    return (
      wait > 0 &&
      // Who may take any later round takes one that it likes.
      wait <= LATEST_ROUND_MS &&
      seedOf(beaconSecret(signature), run, canonicalHash(input)) === seed &&
      (await isSigned(round, signature))
    );
  };
}

/** The time in the id of a run, a UUID of version 7, in milliseconds since 1970. */
const requestedAt = (run: string): number => Number.parseInt(run.replaceAll('-', '').slice(0, 12), 16);

const DST = { DST: 'BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_' };
const SIGNATURE = /^[0-9a-f]{96}$/;

/** Whether the chain has signed the round so: BLS12-381 with signatures on G1, over SHA-256 of the round. Takes about 30 ms. */
export async function isSignatureOf(
  { publicKey }: BeaconChain,
  round: number,
  signature: string,
): Promise<boolean> {
  if (!SIGNATURE.test(signature)) return false;
  // The constants of the curve take a fifth of a second to compute, which no start has to wait for.
  const { bls12_381 } = await import('@noble/curves/bls12-381.js');
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setBigUint64(0, BigInt(round));
  const message = sha256(new Uint8Array(bytes.buffer));
  try {
    return bls12_381.verifyShortSignature(signature, message, publicKey, DST);
  } catch {
    // No point of the curve.
    return false;
  }
}
