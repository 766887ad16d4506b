/** Messages per generation; two generations are kept. */
const GENERATION = 5000;

interface Generation {
  readonly digests: Set<number>;
  /** Everything that was claimed from this time on is in this generation or a later one; milliseconds. */
  readonly since: number;
}

/** The first 28 bits of a key, which is a hash in hex digits: small integers cost the collector nothing. */
const digestOf = (key: string): number => Number.parseInt(key.slice(0, 7), 16);

/**
 * The messages that a deployment's owner has claimed since it read the deployment. A message that was signed after that
 * and is not among them is new, so it is not looked for in the database. This is a guess, since clocks differ: the
 * primary key of `once_keys` decides. Of 25,000 new messages one has the digest of another, and is looked for in vain.
 */
export class ClaimedMessages {
  #older: Generation;
  #newer: Generation;

  /** `since`: when the deployment was read, in milliseconds since the epoch. */
  constructor(since: number) {
    this.#older = { digests: new Set(), since };
    this.#newer = { digests: new Set(), since };
  }

  /** Whether a message that was signed at `signedAt`, in milliseconds since the epoch, was not claimed before. */
  isNew(key: string, signedAt: number): boolean {
    if (signedAt <= this.#older.since) return false;
    const digest = digestOf(key);
    return !this.#newer.digests.has(digest) && !this.#older.digests.has(digest);
  }

  add(key: string, now: number): void {
    if (this.#newer.digests.size >= GENERATION) {
      this.#older = this.#newer;
      this.#newer = { digests: new Set(), since: now };
    }
    this.#newer.digests.add(digestOf(key));
  }
}
