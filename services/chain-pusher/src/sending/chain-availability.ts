import type { ChainCheck } from '../core/chains/chain-port.js';
import { ServersAway } from '../core/chains/chain-port.js';
import type { Submission } from '../core/submissions/submission.js';
import { type ChainLease, noteChainState } from '../store/chains/chain-lease.js';
import type { ChainSenderOptions, Round } from './sender-options.js';
import { Unaffordable } from './unaffordable.js';

/** How often a chain that can be used is checked, in milliseconds. */
const CHECK_MS = 15_000;
const CANNOT_PAY = "the signer's balance does not cover what is to be sent";

/** Whether a chain can be used, checked from time to time. */
export class ChainAvailability {
  #isUsable = false;
  #isAway = false;
  #checkedAt = 0;
  #found: ChainCheck | undefined;
  readonly #unaffordable = new Unaffordable();

  constructor(private readonly options: ChainSenderOptions) {}

  /** New transactions may be signed. */
  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** No server answers: nothing is asked until the next check. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** What it was last found to be, with the last balance that was read. */
  get found(): ChainCheck | undefined {
    return this.#found;
  }

  /** Another process may send to the chain from now on, or has done so until now. */
  forget(): void {
    this.#found = undefined;
    this.checkSoon();
  }

  /** The next round checks. */
  checkSoon(): void {
    this.#checkedAt = 0;
  }

  /** The signer cannot pay at present: nothing more is signed until the next check. `sent`: nor until that has changed. */
  async noteUnaffordable(lease: ChainLease, sent?: Submission): Promise<void> {
    if (sent !== undefined) this.#unaffordable.note(sent.id);
    await this.#note(lease, { reason: CANNOT_PAY, balance: null });
  }

  /** A node has taken its transaction. Answers whether the signer could not pay for it before. */
  noteTaken({ id }: Submission): boolean {
    const isNews = this.#unaffordable.taken(id);
    if (isNews) this.checkSoon();
    return isNews;
  }

  /** These are under way; what the signer could not pay for and is over holds up nothing. */
  noteUnderWay(submissions: readonly Submission[]): void {
    const open = submissions.filter(({ state }) => state === 'open');
    this.#unaffordable.keep(new Set(open.map(({ id }) => id)));
  }

  async check({ lease, signal }: Round): Promise<void> {
    const { clock, port } = this.options;
    const intervalMs = this.#isUsable ? CHECK_MS : 3 * port.delays.retryMs;
    if (clock.monotonic() - this.#checkedAt < intervalMs) return;
    let failure: Error | undefined;
    const found = await port.check(signal).catch((error: Error) => {
      this.#isAway = error instanceof ServersAway;
      failure = error;
      return { reason: error.message, balance: null };
    });
    signal.throwIfAborted();
    if (found.balance !== null) this.#isAway = false;
    await this.#note(lease, this.#withFunds(found), failure);
  }

  #withFunds(found: ChainCheck): ChainCheck {
    if (found.balance === null || !this.#unaffordable.isLeftAt(found.balance)) return found;
    return { ...found, reason: found.reason ?? CANNOT_PAY };
  }

  async noteAway(lease: ChainLease, away: ServersAway): Promise<void> {
    this.#isAway = true;
    await this.#note(lease, { reason: away.message, balance: null }, away);
  }

  async #note(lease: ChainLease, found: ChainCheck, failure?: Error): Promise<void> {
    const { db, clock, logger } = this.options;
    const { reason } = found;
    this.#checkedAt = clock.monotonic();
    if (this.#isUsable !== (reason === null))
      logger.warn({ chain: lease.chain, reason, cause: causeOf(failure) }, 'chain state changed');
    this.#isUsable = reason === null;
    this.#found = { reason, balance: found.balance ?? this.#found?.balance ?? null };
    await noteChainState(db, lease, reason);
  }
}

/** Why the last server failed: its own words, or the code of the connection. Addresses may hold keys. */
function causeOf(failure: Error | undefined): string | undefined {
  if (!(failure?.cause instanceof Error)) return undefined;
  const { message, cause } = failure.cause;
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === 'string' ? `${message}: ${code}` : message;
}
