import type { ChainCheck } from '../core/chains/chain-port.js';
import { ServersAway } from '../core/chains/chain-port.js';
import { type ChainLease, noteChainState } from '../store/chains/chain-lease.js';
import type { ChainSenderOptions, Round } from './sender-options.js';

/** How often a chain that can be used is checked, in milliseconds. */
const CHECK_MS = 15_000;

/** Whether a chain can be used, checked from time to time. */
export class ChainAvailability {
  #isUsable = false;
  #isAway = false;
  #checkedAt = 0;

  constructor(private readonly options: ChainSenderOptions) {}

  /** New transactions may be signed. */
  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** No server answers: nothing is asked until the next check. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** The next round checks. */
  checkSoon(): void {
    this.#checkedAt = 0;
  }

  /** The signer cannot pay at present: the chain is checked before anything more is signed. */
  noteUnaffordable(): void {
    this.checkSoon();
    this.#isUsable = false;
  }

  async check({ lease, signal }: Round): Promise<void> {
    const { clock, port } = this.options;
    const intervalMs = this.#isUsable ? CHECK_MS : 3 * port.delays.retryMs;
    if (clock.monotonic() - this.#checkedAt < intervalMs) return;
    const found = await port.check(signal).catch((error: Error) => {
      this.#isAway = error instanceof ServersAway;
      return { reason: error.message, balance: null };
    });
    signal.throwIfAborted();
    if (found.balance !== null) this.#isAway = false;
    await this.#note(lease, found);
  }

  async noteAway(lease: ChainLease, { message: reason }: ServersAway): Promise<void> {
    this.#isAway = true;
    await this.#note(lease, { reason, balance: null });
  }

  async #note(lease: ChainLease, found: ChainCheck): Promise<void> {
    const { db, clock, logger, signals } = this.options;
    const { reason } = found;
    this.#checkedAt = clock.monotonic();
    if (this.#isUsable !== (reason === null))
      logger.warn({ chain: lease.chain, reason }, 'chain state changed');
    this.#isUsable = reason === null;
    signals.checked(lease.chain, found);
    await noteChainState(db, lease, reason);
  }
}
