import type { RecordedPushes } from '../../core/pushes/compare-ranges.js';
import { EarlierMemos } from './earlier-memos.js';
import {
  type Claim,
  type ClaimsPage,
  MAX_READ,
  type MemoLimits,
  readClaims,
  readPage,
  stillBeingRead,
  type TransactionReader,
} from './memo-claims.js';

/** What the signer's memos record of each deployment, oldest first, of numbers after one. */
export interface MemoIndex {
  of(deployment: string, after: number, signal: AbortSignal): Promise<readonly RecordedPushes[]>;
}

const LIMITS: MemoLimits = { maxEntries: 200_000, maxPages: 100 };

export const createMemoIndex = (reader: TransactionReader, limits = LIMITS): MemoIndex =>
  new NewestMemos(reader, limits);

/**
 * A chain without a registry is asked by reading the transactions that mention the signer: all of them once, then what is
 * new since the last final one. Who signed one is read from itself, once a lane is compared that its memo names. The newest
 * claims are kept (`maxEntries`), of what is older little is (`EarlierMemos`). One question lists and reads a part at most;
 * where that is not enough it fails, and the next one goes on there: anyone can send memos without number.
 */
class NewestMemos implements MemoIndex {
  /** Of final blocks, oldest first. */
  #final = new Map<string, Claim>();
  /** Those before them, newest first, while older ones are listed. */
  #older: Claim[] = [];
  /** Of blocks that the chain may still take back. */
  #recent = new Map<string, Claim>();
  #earlier: EarlierMemos;
  #newestFinal: string | undefined;
  /** What is older is not listed yet; undefined where all is. */
  #listedTo: string | undefined;
  /** What is older is not kept; undefined where all is. */
  #keptTo: string | undefined;

  constructor(
    private readonly reader: TransactionReader,
    private readonly limits: MemoLimits,
  ) {
    this.#earlier = new EarlierMemos(reader, limits.maxPages);
  }

  async of(deployment: string, after: number, signal: AbortSignal): Promise<readonly RecordedPushes[]> {
    await this.#listNewest(signal);
    await this.#listOlder(signal);
    const kept = await this.#kept(deployment, after, signal);
    const before = this.#keptTo;
    const earlier = before === undefined ? [] : await this.#earlier.of(deployment, after, before, signal);
    return [...earlier, ...kept].map(({ range, signature }) => ({ ...range, transaction: signature }));
  }

  async #listNewest(signal: AbortSignal): Promise<void> {
    const pages = await this.#pagesSince(this.#newestFinal, signal);
    if (this.#newestFinal === undefined) this.#listedTo = this.#keptTo = pages.at(-1)?.next;
    const known = this.#recent;
    this.#recent = new Map();
    for (const { claim, isFinal } of pages.flatMap(({ claims }) => claims).toReversed()) {
      const { signature } = claim;
      const one = this.#final.get(signature) ?? known.get(signature) ?? claim;
      (isFinal ? this.#final : this.#recent).set(signature, one);
    }
    this.#newestFinal = pages.find(({ newestFinal }) => newestFinal)?.newestFinal ?? this.#newestFinal;
    if (this.#final.size > this.limits.maxEntries) this.#keepFewer();
  }

  /** Newest first; at the beginning those down to a final transaction, from which the older ones can be listed later. */
  async #pagesSince(until: string | undefined, signal: AbortSignal): Promise<readonly ClaimsPage[]> {
    const pages: ClaimsPage[] = [];
    while (pages.length < this.limits.maxPages) {
      const page = await readPage(this.reader, { before: pages.at(-1)?.next, until }, signal);
      pages.push(page);
      if (page.next === undefined || (until === undefined && page.isLastFinal)) return pages;
    }
    this.#beginAnew();
    throw stillBeingRead();
  }

  /** So many transactions are new that they are listed in parts, as at the beginning. */
  #beginAnew(): void {
    this.#final.clear();
    this.#older = [];
    this.#recent.clear();
    this.#earlier = new EarlierMemos(this.reader, this.limits.maxPages);
    this.#newestFinal = this.#listedTo = this.#keptTo = undefined;
  }

  /** Half of the room is left for what comes. */
  async #listOlder(signal: AbortSignal): Promise<void> {
    for (let pages = 0; this.#listedTo !== undefined; pages += 1) {
      if (pages >= this.limits.maxPages) throw stillBeingRead();
      const page = await readPage(this.reader, { before: this.#listedTo }, signal);
      const older = page.claims.map(({ claim }) => claim);
      const kept = this.#final.size + this.#older.length;
      const isKept = this.#keptTo === this.#listedTo && kept < this.limits.maxEntries / 2;
      this.#listedTo = page.next;
      if (isKept) {
        this.#keptTo = page.next;
        this.#older.push(...older);
      } else for (const claim of older) this.#earlier.add(claim);
    }
    this.#join();
  }

  /** Once for all pages: a large map is slow to make. */
  #join(): void {
    if (this.#older.length === 0) return;
    this.#final = new Map([...this.#older.toReversed().map(named), ...this.#final]);
    this.#older = [];
  }

  /** Gives the oldest half up. */
  #keepFewer(): void {
    this.#join();
    for (const claim of this.#final.values()) {
      if (this.#final.size <= this.limits.maxEntries / 2) break;
      this.#final.delete(claim.signature);
      this.#earlier.add(claim);
    }
    // The earlier memos are listed from before this one.
    this.#keptTo = this.#final.keys().next().value;
    this.#earlier.readAnew();
  }

  /** The deployment's own among the claims that are kept. */
  async #kept(deployment: string, after: number, signal: AbortSignal): Promise<readonly Claim[]> {
    const claims = [...this.#final.values(), ...this.#recent.values()].filter(
      (claim) => claim.deployment === deployment && claim.range.to > after,
    );
    const unread = claims.filter(({ isOwn }) => isOwn === undefined);
    await readClaims(this.reader, unread.slice(0, MAX_READ), signal);
    for (const { signature } of claims.filter(({ isOwn }) => isOwn === false)) this.#final.delete(signature);
    if (unread.length > MAX_READ) throw stillBeingRead();
    return claims.filter(({ isOwn }) => isOwn);
  }
}

const named = (claim: Claim): [string, Claim] => [claim.signature, claim];
