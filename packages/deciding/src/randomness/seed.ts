import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { EntryRandomness } from '@orrery/contracts';

/** A secret that a deployment has committed to and not revealed. The secret itself is stored nowhere. */
export interface OpenCommitment {
  /** SHA-256 of the secret, in hex. */
  readonly commitment: string;
  /** What it is derived from beside the operator's key: 16 random bytes in hex. */
  readonly nonce: string;
}

/** Where the random numbers of one execution come from. */
export interface RandomSource {
  /** What its entry says once it has drawn: the seed is in it. The same each time. @throws `randomness_unavailable` */
  take(): EntryRandomness;
  /** What has to be committed to before the entry; undefined: nothing, or nothing was taken. */
  commits?(): OpenCommitment | undefined;
}

export const commitmentOf = (secret: Uint8Array): string => bytesToHex(sha256(secret));

/** HMAC-SHA256 of a secret over the run's id and the hash of its input, both as the texts that the entry shows. */
export const seedOf = (secret: Uint8Array, run: string, inputHash: string): string =>
  bytesToHex(hmac(sha256, secret, concatBytes(utf8ToBytes(run), utf8ToBytes(inputHash))));

/** The secret of a round of a beacon, which is public once the round is: SHA-256 of its signature. */
export const beaconSecret = (signature: string): Uint8Array => sha256(bytesOf(signature));

const HEX = /^(?:[0-9a-f]{2})*$/;

/** The bytes of a text in hex; of any other text none, since it may be anybody's. */
export const bytesOf = (hex: string): Uint8Array => (HEX.test(hex) ? hexToBytes(hex) : new Uint8Array());
