/** Messages per generation; two generations are kept. */
const GENERATION = 5000;

interface Generation {
  readonly keys: Set<string>;
  /** Everything that was claimed from this time on is in this generation or a later one; milliseconds. */
  readonly since: number;
}

/**
 * The messages that a deployment's owner has claimed since it read the deployment. A message that was signed after that
 * and is not among them is new, so it is not looked for in the database. This is a guess, since clocks differ: the
 * primary key of `once_keys` decides.
 */
export class ClaimedMessages {
  #older: Generation;
  #newer: Generation;

  /** `since`: when the deployment was read, in milliseconds since the epoch. */
  constructor(since: number) {
    this.#older = { keys: new Set(), since };
    this.#newer = { keys: new Set(), since };
  }

  /** Whether a message that was signed at `signedAt`, in milliseconds since the epoch, was not claimed before. */
  isNew(key: string, signedAt: number): boolean {
    return signedAt > this.#older.since && !this.#newer.keys.has(key) && !this.#older.keys.has(key);
  }

  add(key: string, now: number): void {
    if (this.#newer.keys.size >= GENERATION) {
      this.#older = this.#newer;
      this.#newer = { keys: new Set(), since: now };
    }
    this.#newer.keys.add(key);
  }
}
