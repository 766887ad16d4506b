import { ChainBehind } from '../core/chains/chain-port.js';
import type { RecordedPushes } from '../core/pushes/compare-ranges.js';
import { fenced, LeaseLost } from '../store/chains/chain-lease.js';
import { adoptLane, type OpenAdoption, openAdoptions } from '../store/lanes/adopt-lane.js';
import { type Comparison, compareBehind, compareLane } from '../store/lanes/compare-lane.js';
import { lanesWithWork, putBack } from '../store/lanes/lane-store.js';
import type { Lane, Trx } from '../store/tables/schema.js';
import { type ChainSenderOptions, nullUnlessAway, type Round } from './sender-options.js';

/** Lanes remembered as compared. One that is forgotten is compared again. */
const MAX_REMEMBERED = 50_000;
/** Pause where the operator may have to act, in first pauses of a push that was refused. */
const LATER = 15;
/** Parts of an adoption that are done in one round: other lanes wait for no more. */
const MAX_PARTS = 10;

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
    const recorded = await port.recorded(deployment, sent, signal).catch((err: Error) => {
      if (err instanceof ChainBehind) return err;
      logger.warn({ ...lane, err }, 'what the chain holds cannot be told');
      return nullUnlessAway(signal)(err);
    });
    const { retryMs } = port.delays;
    return fenced(db, lease, async (trx) => {
      const comparison = await this.#comparisonWith(trx, lane, recorded);
      if (comparison === 'unread') await putBack(trx, lane, 'not_compared', retryMs);
      if (comparison === 'behind') await putBack(trx, lane, 'chain_behind', LATER * retryMs);
      return comparison;
    });
  }

  async #comparisonWith(
    trx: Trx,
    lane: Lane,
    recorded: readonly RecordedPushes[] | ChainBehind | null,
  ): Promise<Comparison> {
    if (recorded === null) return 'unread';
    if (!(recorded instanceof ChainBehind)) return compareLane(trx, lane, this.options.port.signer, recorded);
    const { comparison, isNews } = await compareBehind(trx, lane, recorded.last);
    if (comparison === 'behind' && isNews)
      this.options.logger.error({ ...lane, chainLast: recorded.last }, 'chain is behind the deployment');
    return comparison;
  }

  /** Does what the operator asked for: lets lanes go on after the chain's last number. One that cannot keeps no other waiting. */
  async adopt(round: Round): Promise<void> {
    const { db, clock, port, logger } = this.options;
    for (const lane of await openAdoptions(db, round.lease.chain)) {
      if (clock.monotonic() < (this.#adoptAgainAt.get(lane.deployment) ?? 0)) continue;
      await this.#adoptOne(round, lane).catch((err: unknown) => {
        if (err instanceof LeaseLost) throw err;
        nullUnlessAway(round.signal)(err);
        this.#adoptAgainAt.set(lane.deployment, clock.monotonic() + LATER * port.delays.retryMs);
        logger.error({ err, ...lane }, 'a lane could not be adopted; it is tried again');
      });
    }
  }

  async #adoptOne(round: Round, { chainLast, ...lane }: OpenAdoption): Promise<void> {
    const { db, consumer, skipLost } = this.options;
    const options = { consumer, chainLast: chainLast ?? (await this.#lastNumber(round, lane)) };
    for (let part = 0; part < MAX_PARTS; part += 1) {
      round.signal.throwIfAborted();
      const outcome = await fenced(db, round.lease, (trx) => adoptLane(trx, lane, options));
      if (outcome === 'more') continue;
      if (outcome !== 'waits') this.compareAgain(lane.deployment);
      if (outcome === 'lost') await skipLost(lane.deployment);
      return;
    }
  }

  /** Of a server that has reached the newest block that servers tell of. */
  async #lastNumber({ signal }: Round, { deployment }: Lane): Promise<number> {
    const { port } = this.options;
    await port.view(signal);
    return port.lastNumber(deployment, signal);
  }
}
