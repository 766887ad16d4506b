import type { Database } from '@orrery/database';
import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { ChainPort } from '../chains/chain-port.js';
import type { SigningChain } from '../config.js';
import type { ChainPusherSchema, Db } from '../database/schema.js';
import { chainSignals } from '../signals.js';
import { stopLost } from './adopt-lane.js';
import { releaseLeases } from './chain-lease.js';
import { createChainSender } from './chain-sender.js';

export interface SendingOptions {
  readonly database: Pick<Database<ChainPusherSchema>, 'db'>;
  readonly chains: readonly SigningChain[];
  readonly portOf: (chain: SigningChain) => Promise<ChainPort>;
  readonly owner: string;
  readonly leaseTtlMs: number;
  readonly pollMs: number;
  readonly consumer: string;
  readonly skipLost: (deployment: string) => Promise<unknown>;
  readonly onChanged: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Sending {
  /** Work for the chain may have come. */
  wake(chain: string): void;
  stop(): Promise<void>;
}

/** How often the backlog is measured, in milliseconds. */
const MEASURE_MS = 15_000;

/** Starts a loop for each chain: one that stands still delays no other. */
export async function startSending(options: SendingOptions): Promise<Sending> {
  const { database, chains, portOf, pollMs, clock, logger } = options;
  const { db } = database;
  const signals = chainSignals();
  const loops = new Map<string, PollLoop>();
  for (const one of chains) {
    const sender = createChainSender({
      ...options,
      db,
      chain: one.chain,
      port: await portOf(one),
      signals,
    });
    const loop = startPollLoop({
      name: `pushes to ${one.chain.name}`,
      intervalMs: pollMs,
      maxBackoffMs: 10_000,
      clock,
      logger,
      runOnce: sender.runOnce,
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
  return {
    wake: (chain) => loops.get(chain)?.wake(),
    stop: async () => {
      await Promise.all([measuring, ...loops.values()].map((loop) => loop.stop()));
      await releaseLeases(db, options.owner);
    },
  };
}

async function backlogOf(db: Db, chain: string) {
  const { rows } = await sql<{ pushes: number; seconds: number; stopped: number }>`
    select coalesce(sum(last_number - sent_number), 0)::bigint as pushes,
      count(*) filter (where stop is not null)::bigint as stopped,
      coalesce(extract(epoch from now() - min((select created_at from pushes
        where pushes.deployment = lanes.deployment and pushes.chain = lanes.chain
          and pushes.number = lanes.sent_number + 1))), 0)::float8 as seconds
    from lanes where chain = ${chain} and sent_number < last_number`.execute(db);
  return rows[0] ?? { pushes: 0, seconds: 0, stopped: 0 };
}
