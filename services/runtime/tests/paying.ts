import {
  type Caller,
  type ExecutionAnswer,
  type OfferedPayment,
  runtimeContract,
  type SettlementResponse,
} from '@orrery/contracts';
import { connect, type Database } from '@orrery/database';
import { createLogger, systemClock } from '@orrery/service-kit';
import { reconcileDue } from '../src/runs/payments/reconcile.js';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import type { House } from './running-runtime.js';

const { 'executions.public': executePublicly } = runtimeContract.rpcs;
/** What a caller is answered that waits for its execution. */
export interface PublicReply {
  readonly data: ExecutionAnswer;
  readonly payment: SettlementResponse | null;
}

export const WALLET = 'FiiqmqCTgPoxGszgEK6hPKVpPiWmGXNtq5Cm97VhLUBB';

export interface PublicRequest {
  event?: string;
  input?: object;
  /** The time in the message; one that was not sent before by default. */
  at?: number | undefined;
  wallet?: string;
  payment?: OfferedPayment | null;
  /** Milliseconds. */
  patience?: number;
  awaitsRun?: boolean;
  leavesRun?: boolean;
  /** At the event's own address. */
  atEvent?: boolean;
  /** Nobody has signed: the payer is the caller. */
  byPayer?: boolean;
}

let lastAt = Date.now();

/** How a wallet executes in a deployment, through a gateway that has verified its signature. */
export const sendsTo =
  ({ bus }: Pick<House, 'bus'>, address: string) =>
  ({ event = 'priced', input = { id: 'a' }, at, ...sent }: PublicRequest = {}): Promise<PublicReply> => {
    const {
      wallet = WALLET,
      payment = null,
      patience = 240_000,
      awaitsRun = false,
      leavesRun,
      atEvent,
      byPayer = false,
    } = sent;
    lastAt = Math.max(Date.now(), lastAt + 1);
    const message = byPayer ? null : `orrery:${address}:${event}:${at ?? lastAt}`;
    const resource = `http://localhost:3000/app/deployments/${address}/execute`;
    const request = { deployment: address, event, input, message, resource, atEvent, payment, awaitsRun };
    const caller: Caller = byPayer ? { kind: 'anonymous' } : { kind: 'wallet', wallet };
    const call = { caller, requestId: 'test', deadline: Date.now() + patience, leavesRun };
    return bus.call(executePublicly, request as never, call) as Promise<PublicReply>;
  };

/** The rows of payments, and their reconciliation when a test wants it. */
export async function lookOnPayments({ databaseUrl, resources }: House) {
  const logger = createLogger({ service: 'test', level: 'silent' });
  const address = { url: databaseUrl, schema: 'runtime', applicationName: 'test', logger };
  const { db, pool }: Database<RuntimeSchema> = resources.use('looking on', await connect(address));
  return {
    db,
    query: async <Row extends object>(text: string, values: unknown[] = []) =>
      (await pool.query<Row>(text, values)).rows,
    makeDue: () =>
      pool.query("update payments set check_at = now() - interval '1 hour' where check_at is not null"),
    reconcile: (payments: Parameters<typeof reconcileDue>[0]['payments']) =>
      reconcileDue({ db, payments, clock: systemClock, logger }, new AbortController().signal),
  };
}
