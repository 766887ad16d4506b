/** Messages per generation; two generations are kept, in some 4 MB. */
const GENERATION = 50_000;

interface Generation {
  readonly digests: Set<number>;
  /** Everything that was claimed from this time on is in this generation or a later one; milliseconds. */
  readonly since: number;
}

/** The first 28 bits of a key, which is a hash in hex digits: small integers cost the collector nothing. */
const digestOf = (key: string): number => Number.parseInt(key.slice(0, 7), 16);

/**
 * The messages that this process has claimed last, of all deployments together, so that its memory does not grow with
 * them. A message that was signed after its deployment was read and is not among them is new, so it is not looked for in the
 * database. This is a guess, since clocks differ: the primary key of `once_keys` decides. Of 2,500 new messages one has the
 * digest of another, and is looked for in vain.
 */
export class ClaimedMessages {
  #older: Generation = { digests: new Set(), since: 0 };
  #newer: Generation = this.#older;

  /**
   * Whether a message was not claimed before; `signedAt` and `readAt`, when the owner read the deployment, in milliseconds
   * since the epoch.
   */
  isNew(key: string, signedAt: number, readAt: number): boolean {
    if (signedAt <= Math.max(readAt, this.#older.since)) return false;
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
