import { fenced, LeaseLost } from '../store/chains/chain-lease.js';
import { adoptLane, openAdoptions } from '../store/lanes/adopt-lane.js';
import { type Comparison, compareLane } from '../store/lanes/compare-lane.js';
import { lanesWithWork, putBack } from '../store/lanes/lane-store.js';
import type { Lane } from '../store/tables/schema.js';
import { type ChainSenderOptions, nullUnlessAway, type Round } from './sender-options.js';

/** Lanes remembered as compared. One that is forgotten is compared again. */
const MAX_REMEMBERED = 50_000;
/** Pause after an adoption that failed, in milliseconds. */
const ADOPT_AGAIN_MS = 15_000;

/** Lanes that were compared with the chain since this process took the lease, or lost a submission. */
export class ComparedLanes {
  readonly #compared = new Set<string>();
  /** When adoptions that failed are tried again, by deployment. */
  readonly #adoptAgainAt = new Map<string, number>();

  constructor(private readonly options: ChainSenderOptions) {}

  forgetAll(): void {
    this.#compared.clear();
  }

  /** What the chain holds of the lane is in doubt: it is compared before it sends. */
  compareAgain(deployment: string): void {
    this.#compared.delete(deployment);
  }

  /** Lanes with work that hold nothing else than the chain. */
  async ready(round: Round, limit: number): Promise<string[]> {
    const { db, chain, logger } = this.options;
    const ready: string[] = [];
    for (const { deployment, sent } of await lanesWithWork(db, chain.name, limit)) {
      const isCompared = this.#compared.has(deployment);
      const comparison = isCompared ? 'equal' : await this.#compare(round, deployment, sent);
      if (comparison === 'ahead')
        logger.error({ chain: chain.name, deployment }, 'chain is ahead of the deployment');
      if (comparison !== 'equal') continue;
      if (this.#compared.size >= MAX_REMEMBERED) this.#compared.clear();
      this.#compared.add(deployment);
      ready.push(deployment);
    }
    return ready;
  }

  /** A lane of which it cannot be told what the chain holds keeps no other waiting. */
  async #compare({ lease, signal }: Round, deployment: string, sent: number): Promise<Comparison> {
    const { db, port, logger } = this.options;
    const lane = { deployment, chain: lease.chain };
    const recorded = await port.recorded(deployment, sent, signal).catch((error: Error) => {
      logger.warn({ ...lane, error }, 'what the chain holds cannot be told');
      return nullUnlessAway(signal)(error);
    });
    return fenced(db, lease, async (trx) => {
      const comparison = recorded === null ? 'unread' : await compareLane(trx, lane, port.signer, recorded);
      if (comparison === 'unread') await putBack(trx, lane, port.delays.retryMs);
      return comparison;
    });
  }

  /** Does what the operator asked for: lets lanes go on after the chain's last number. One that cannot keeps no other waiting. */
  async adopt(round: Round): Promise<void> {
    const { db, clock, logger } = this.options;
    for (const lane of await openAdoptions(db, round.lease.chain)) {
      if (clock.monotonic() < (this.#adoptAgainAt.get(lane.deployment) ?? 0)) continue;
      await this.#adoptOne(round, lane).catch((err: unknown) => {
        if (err instanceof LeaseLost) throw err;
        nullUnlessAway(round.signal)(err);
        this.#adoptAgainAt.set(lane.deployment, clock.monotonic() + ADOPT_AGAIN_MS);
        logger.error({ err, ...lane }, 'a lane could not be adopted; it is tried again');
      });
    }
  }

  async #adoptOne({ lease, signal }: Round, lane: Lane): Promise<void> {
    const { db, port, consumer, skipLost } = this.options;
    const { deployment } = lane;
    const chainLast = await port.lastNumber(deployment, signal);
    const outcome = await fenced(db, lease, (trx) => adoptLane(trx, lane, { consumer, chainLast }));
    if (outcome === 'waits') return;
    this.compareAgain(deployment);
    if (outcome === 'lost') await skipLost(deployment);
  }
}
