import type { JsonObject } from '@orrery/contracts';
import { query } from '@orrery/testing/servers';
import type { Address, Hex, PublicClient } from 'viem';
import { parseAbiItem } from 'viem';
import type { Operation } from '../../load/operation.js';
import type { OperationEntry } from '../../load/wrong-operations.js';
import type { ReceivedWebhook } from '../house/webhooks.js';

/** An entry of a journal, as PostgreSQL has it. */
export interface JournalRow extends OperationEntry {
  readonly event: string | null;
  readonly eventVersion: number | null;
  readonly result: JsonObject | null;
  readonly paymentKey: string | null;
  readonly hash: string;
}

export interface PaymentRow {
  readonly key: string;
  readonly status: string;
  readonly payer: string;
  readonly amount: string;
  readonly payTo: string;
  readonly asset: string;
}

/** One that the contract of the registry on the chain has taken. */
export interface ChainPush {
  readonly deployment: string;
  readonly number: number;
  readonly entryHash: string;
}

/** An authorization that the token on the payments' chain has taken. */
export interface Charge {
  readonly payer: string;
  readonly transaction: string;
}

/** All that a checker believes: nothing of it was told by the system itself. */
export interface Evidence {
  readonly operations: readonly Operation[];
  readonly entries: readonly JournalRow[];
  readonly payments: readonly PaymentRow[];
  readonly charges: readonly Charge[];
  /** What the receiver has, in units of the token. */
  readonly received: bigint;
  readonly pushes: readonly ChainPush[];
  /** Addresses of the deployments whose executions are pushed. */
  readonly pushed: ReadonlySet<string>;
  readonly webhooks: readonly ReceivedWebhook[];
  /** The operations that the model's server was asked about, once for each call. */
  readonly asked: readonly number[];
}

export async function readEntries(databaseUrl: string): Promise<JournalRow[]> {
  return query<JournalRow>(
    databaseUrl,
    `select d.address as deployment, j.seq::int, j.id, j.kind, j.event, j.event_version as "eventVersion", j.trigger, j.status, j.input, j.changes, j.result,
       j.payment_key as "paymentKey", j.hash
     from runtime.journal j join runtime.deployments d on d.id = j.deployment_id order by j.deployment_id, j.seq`,
  );
}

export const readPayments = (databaseUrl: string): Promise<PaymentRow[]> =>
  query<PaymentRow>(
    databaseUrl,
    `select key, status, payer, amount::text, pay_to as "payTo", asset from runtime.payments order by number`,
  );

const USED = parseAbiItem('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)');

export async function readCharges(chain: PublicClient, token: Address): Promise<Charge[]> {
  const range = { fromBlock: 0n, toBlock: 'latest' } as const;
  const logs = await chain.getLogs({ address: token, event: USED, ...range });
  return logs.map(({ args, transactionHash }) => ({
    payer: String(args.authorizer),
    transaction: transactionHash,
  }));
}

const PUSHED = parseAbiItem(
  'event Pushed(address indexed deployment, uint64 indexed number, bytes32 entryHash, bytes32 digest, bytes data)',
);

/** In the order of the chain. */
export async function readChainPushes(
  chain: Pick<PublicClient, 'getLogs'>,
  contract: Hex,
): Promise<ChainPush[]> {
  const range = { fromBlock: 0n, toBlock: 'latest' } as const;
  const logs = await chain.getLogs({ address: contract, event: PUSHED, ...range });
  return logs.map(({ args }) => ({
    deployment: String(args.deployment).toLowerCase(),
    number: Number(args.number),
    entryHash: String(args.entryHash).slice(2),
  }));
}
