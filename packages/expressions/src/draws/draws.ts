import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';

/** Random numbers that one execution may draw, those that are rejected included. */
export const MAX_DRAWS = 2_000;

const BITS = 64n;
const ALL = 1n << BITS;
const FLOAT_BITS = 53n;

/**
 * The random numbers of one execution (docs/templates.md, "Random numbers"). Draw `k` = 0, 1, 2 … is HMAC-SHA256 of the
 * seed and `k` as 8 bytes, big-endian; of each draw the first 64 bits are used. The same seed gives the same numbers,
 * everywhere: the code needs neither Node nor a browser, and waits for nothing.
 */
export class Draws {
  readonly #seed: () => Uint8Array;
  #key: Uint8Array | undefined;
  #drawn = 0;

  /** `seed` is called for the first draw, and never if there is none. */
  constructor(seed: () => Uint8Array) {
    this.#seed = seed;
  }

  /** How many were drawn. */
  get drawn(): number {
    return this.#drawn;
  }

  get isUsedUp(): boolean {
    return this.#drawn >= MAX_DRAWS;
  }

  /** The next draw: a whole number from 0 to 2^64 − 1. */
  next(): bigint {
    this.#key ??= this.#seed();
    const k = new DataView(new ArrayBuffer(8));
    k.setBigUint64(0, BigInt(this.#drawn));
    this.#drawn += 1;
    const { buffer, byteOffset } = hmac(sha256, this.#key, new Uint8Array(k.buffer));
    return new DataView(buffer, byteOffset).getBigUint64(0);
  }
}

/** A draw as a whole number from 0 to `count` − 1; undefined: it is rejected, so that each of them is as likely. */
export const indexOf = (draw: bigint, count: bigint): bigint | undefined =>
  draw < ALL - (ALL % count) ? draw % count : undefined;

/** A draw as a number from 0 to below 1: its first 53 bits. */
export const fractionOf = (draw: bigint): number =>
  Number(draw >> (BITS - FLOAT_BITS)) / Number(1n << FLOAT_BITS);
