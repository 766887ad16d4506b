import { LRUCache } from 'lru-cache';
import {
  type Claim,
  MAX_READ,
  readClaims,
  readPage,
  stillBeingRead,
  type TransactionReader,
} from './memo-claims.js';

/** Hexadecimal digits of a deployment that choose what is remembered together. */
const DIGITS = 5;
/** Readings that are remembered until they end. One that is forgotten begins anew. */
const MAX_READINGS = 50_000;

/** How far the earlier memos have been read for one question. */
interface Reading {
  /** What is older is not read yet; undefined at the end. */
  before: string | undefined;
  /** The signer's own, newest first: pushes that the lane does not know of. Those of strangers are not kept. */
  readonly own: Claim[];
}

/**
 * Memos that are too many to be kept. Of each group of deployments the highest number is remembered that a memo claims, so that
 * few lanes have to ask for more: for these the transactions are listed again, from the newest to the oldest. A reading
 * goes on where the last question ended, so it ends however many memos strangers have sent.
 */
export class EarlierMemos {
  readonly #highest = new Float64Array(16 ** DIGITS);
  readonly #readings = new LRUCache<string, Reading>({ max: MAX_READINGS });

  constructor(
    private readonly reader: TransactionReader,
    private readonly maxPages: number,
  ) {}

  add({ deployment, range }: Claim): void {
    const group = groupOf(deployment);
    this.#highest[group] = Math.max(this.#highest[group] ?? 0, range.to);
  }

  /** There are more memos than before: what was read of them does not hold all. */
  readAnew(): void {
    this.#readings.clear();
  }

  /** The deployment's own claims of numbers after one, in transactions before this one, oldest first. */
  async of(
    deployment: string,
    after: number,
    before: string,
    signal: AbortSignal,
  ): Promise<readonly Claim[]> {
    if ((this.#highest[groupOf(deployment)] ?? 0) <= after) return [];
    const question = `${deployment} ${after}`;
    const reading = this.#readings.get(question) ?? { before, own: [] };
    this.#readings.set(question, reading);
    await this.#goOn(reading, (claim) => claim.deployment === deployment && claim.range.to > after, signal);
    this.#readings.delete(question);
    return reading.own.toReversed();
  }

  async #goOn(reading: Reading, isAskedFor: (claim: Claim) => boolean, signal: AbortSignal): Promise<void> {
    let read = 0;
    for (let pages = 0; reading.before !== undefined; pages += 1) {
      if (pages >= this.maxPages || read >= MAX_READ) throw stillBeingRead();
      const page = await readPage(this.reader, { before: reading.before }, signal);
      const claims = page.claims.map(({ claim }) => claim).filter(isAskedFor);
      await readClaims(this.reader, claims, signal);
      reading.own.push(...claims.filter(({ isOwn }) => isOwn));
      read += claims.length;
      reading.before = page.next;
    }
  }
}

const groupOf = (deployment: string): number => Number.parseInt(deployment.slice(2, 2 + DIGITS), 16);
