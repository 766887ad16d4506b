import { type PollLoop, startPollLoop } from '@orrery/service-kit';
import type { OpenChain, SigningChain } from '../chains/open-chain.js';
import { releaseLeases } from '../store/chains/chain-lease.js';
import { sweepCancelled } from '../store/lanes/cancel-unsent.js';
import { backlogOf } from '../store/lanes/lane-store.js';
import { stopLost } from '../store/lanes/lost-entries.js';
import { ChainSender } from './chain-sender.js';
import type { ChainSenderOptions } from './sender-options.js';
import { chainSignals } from './signals.js';

export interface SendingOptions extends Omit<ChainSenderOptions, 'chain' | 'port' | 'signals'> {
  readonly chains: readonly SigningChain[];
  readonly portOf: OpenChain;
  readonly pollMs: number;
}

export interface Sending {
  /** Work for the chain may have come. */
  wake(chain: string): void;
  stop(): Promise<void>;
}

/** How often the backlog is measured, and what was cancelled is swept, in milliseconds. */
const MEASURE_MS = 15_000;

/** Starts a loop for each chain: one that stands still delays no other. */
export async function startSending(options: SendingOptions): Promise<Sending> {
  const { db, chains, portOf, pollMs, clock, logger } = options;
  const signals = chainSignals();
  const loops = new Map<string, PollLoop>();
  for (const one of chains) {
    const sender = new ChainSender({
      ...options,
      chain: one.chain,
      port: await portOf(one),
      signals,
    });
    signals.watch(one.chain.name, () => sender.found);
    const loop = startPollLoop({
      name: `pushes to ${one.chain.name}`,
      intervalMs: pollMs,
      maxBackoffMs: 10_000,
      clock,
      logger,
      runOnce: (signal) => sender.runOnce(signal),
    });
    loops.set(one.chain.name, loop);
  }
  const measuring = startPollLoop({
    name: 'backlog of pushes',
    intervalMs: MEASURE_MS,
    clock,
    logger,
    runOnce: async () => {
      await stopLost(db, options.consumer);
      for (const { chain } of chains) signals.backlog(chain.name, await backlogOf(db, chain.name));
      return 'idle';
    },
  });
  const sweeping = startPollLoop({
    name: 'sweep of cancelled pushes',
    intervalMs: MEASURE_MS,
    clock,
    logger,
    runOnce: async (signal) => {
      await sweepCancelled(db, signal);
      return 'idle';
    },
  });
  return {
    wake: (chain) => loops.get(chain)?.wake(),
    stop: async () => {
      signals.stop();
      await Promise.all([measuring, sweeping, ...loops.values()].map((loop) => loop.stop()));
      await releaseLeases(db, options.owner);
    },
  };
}
