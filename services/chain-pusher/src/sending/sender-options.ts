import type { ChainConfig } from '@orrery/contracts';
import type { Clock, Logger } from '@orrery/service-kit';
import { type ChainPort, ServersAway } from '../core/chains/chain-port.js';
import type { ChainLease } from '../store/chains/chain-lease.js';
import type { Db } from '../store/tables/schema.js';
import type { ChainSignals } from './signals.js';

export interface ChainSenderOptions {
  readonly db: Db;
  readonly chain: ChainConfig;
  readonly port: ChainPort;
  /** Names this process among the chain-pushers. */
  readonly owner: string;
  readonly leaseTtlMs: number;
  /** Of the inbox: whose dead letters say that a journal lost entries. */
  readonly consumer: string;
  /** Lets the intake of a deployment go on after the entries that its journal lost. */
  readonly skipLost: (deployment: string) => Promise<unknown>;
  /** Publishes what was written to the outbox. */
  readonly onChanged: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signals: ChainSignals;
}

/** One round of a sender, under the lease of its chain. */
export interface Round {
  readonly lease: ChainLease;
  readonly signal: AbortSignal;
}

/** For a call of the port whose failure concerns what it asks for alone. */
export const nullUnlessAway =
  (signal: AbortSignal) =>
  (error: unknown): null => {
    if (signal.aborted || error instanceof ServersAway) throw error;
    return null;
  };
