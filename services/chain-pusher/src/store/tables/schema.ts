import type {
  DeliveryRecord,
  ExecutionStatus,
  PushProblem,
  PushRecord,
  PushStatus,
  WebhookProblem,
} from '@orrery/contracts';
import type { OutboxSchema } from '@orrery/database';
import type { ColumnType, Generated, Kysely, Transaction } from 'kysely';
import type { SubmissionState } from '../../core/submissions/submission.js';

/** The tables of the schema `chain_pusher`, as queries see them; the migrations say what each is for. */
export interface ChainPusherSchema extends OutboxSchema {
  deployments: { address: string; account_id: number | null };
  lanes: LanesTable;
  pushes: PushesTable;
  attempts: AttemptsTable;
  transactions: TransactionsTable;
  due_heads: DueHeadsTable;
  chains: ChainsTable;
  accounts: { account_id: number; pushes_per_day: number | null; revision: number; disabled: boolean };
  push_usage: { account_id: number; day: string; pushes: number };
  adoptions: AdoptionsTable;
  webhooks: WebhooksTable;
  webhook_deliveries: DeliveriesTable;
}

export type Db = Kysely<ChainPusherSchema>;
export type Trx = Transaction<ChainPusherSchema>;

/** A deployment's pushes to one chain. */
export interface Lane {
  readonly deployment: string;
  readonly chain: string;
}

type Time = ColumnType<Date, Date | undefined, Date>;
type NullableTime = ColumnType<Date | null, Date | null | undefined, Date | null>;

interface LanesTable {
  deployment: string;
  chain: string;
  /** The number given last. */
  last_number: number;
  /** Every push up to this number is in a submission, or on the chain. */
  sent_number: Generated<number>;
  /** Why nothing is sent: `failed`, `chain_ahead`, `adopting`. */
  stop: string | null;
  /** Tries in a row that failed. */
  failures: Generated<number>;
  wait_until: NullableTime;
  waits_for: string | null;
  /** The deployment was deleted: what has a number beyond the last one is cancelled, whatever its row still says. */
  cancels: Generated<boolean>;
}

interface PushesTable {
  deployment: string;
  chain: string;
  number: number;
  history_id: string;
  seq: number;
  entry_hash: string;
  digest: string;
  /** Removed once the push is final. */
  content: string | null;
  /** Of a head; `digest` is empty until it is read. */
  head: PushRecord['head'] | null;
  truncated: boolean;
  status: Generated<PushStatus>;
  attempt_id: number | null;
  error: PushProblem | null;
  /** Of the execution, if its trace is recorded. */
  traceparent: string | null;
  created_at: Time;
  changed_at: Time;
}

/** `head-store.ts` says how a head goes on. */
interface DueHeadsTable {
  deployment: string;
  chain: string;
  before: Date;
  from_seq: number;
  placed: Generated<boolean>;
  /** When the runtime is asked for it. */
  due_at: Date;
}

/** Submissions; the table has kept the name of the first release. */
interface AttemptsTable {
  id: Generated<number>;
  chain: string;
  signer: string;
  nonce: number | null;
  deployment: string;
  from_number: number;
  to_number: number;
  state: Generated<SubmissionState>;
  /** The transaction that the chain has, and where. */
  transaction: string | null;
  block: number | null;
  block_id: string | null;
  created_at: Time;
}

interface TransactionsTable {
  chain: string;
  id: string;
  attempt_id: number;
  raw: string;
  terms: Record<string, string>;
  created_at: Time;
  sent_at: NullableTime;
  /** When a node first took it, or called its fee too low. */
  weighed_at: NullableTime;
}

interface ChainsTable {
  name: string;
  owner: string | null;
  epoch: Generated<number>;
  expires_at: NullableTime;
  status: Generated<'available' | 'unavailable'>;
  reason: string | null;
  /** Whose transactions are sent, and how many of them the chain has included; null where it does not count them. */
  signer: string | null;
  nonce: number | null;
}

interface AdoptionsTable {
  deployment: string;
  chain: string;
  outcome: string | null;
  /** Null: it has not begun, or begins anew. */
  progress: AdoptionProgress | null;
  requested_at: Generated<Date>;
}

/** How far an adoption has come. There may be any number of pushes, so they are written in parts, each committed by itself. */
export interface AdoptionProgress {
  readonly chainLast: number;
  /** The last number that the lane had sent when it began. */
  readonly sent: number;
  /** The first entry that its journal had lost; null for none. */
  readonly lost: number | null;
  readonly step: 'forget' | 'requeue' | 'down' | 'up';
  /** The number as far as which the step is done. */
  readonly at: number;
  /** Of `down` and `up`: the number of the next push. */
  readonly next: number;
}

interface WebhooksTable {
  id: string;
  deployment: string;
  account_id: number | null;
  url: string;
  events: ColumnType<string[] | null, string | null, string | null>;
  status: ExecutionStatus | null;
  /** Encrypted, as the one before it, which signs until its time has come. */
  secret: string;
  old_secret: string | null;
  old_secret_until: NullableTime;
  /** The entry of the journal that it is done with, and its hash; null where it is not known. */
  seq: number;
  hash: string | null;
  /** The last entry of the journal, as far as known. */
  head_seq: number;
  /** Null: there is nothing to do. */
  due_at: NullableTime;
  /** Of the process that delivers, until the time. */
  claim: Generated<string | null>;
  claimed_until: NullableTime;
  /** Its last attempt failed, or took long: it shares the room of those. */
  is_slow: Generated<boolean>;
  failures: Generated<number>;
  failing_since: NullableTime;
  /** When the entry happened that is tried again. */
  waiting_since: NullableTime;
  problem: ColumnType<WebhookProblem | null, string | null | undefined, string | null>;
  disabled_at: NullableTime;
  /** The number given last to a delivery, and that of the entry that is tried again. */
  last_number: Generated<number>;
  open_number: Generated<number | null>;
  created_at: Time;
  updated_at: Time;
}

interface DeliveriesTable {
  webhook_id: string;
  number: number;
  kind: DeliveryRecord['kind'];
  history_id: string | null;
  seq: number | null;
  event: string | null;
  state: DeliveryRecord['state'];
  attempts: Generated<number>;
  response_status: number | null;
  problem: WebhookProblem | null;
  duration_ms: number | null;
  created_at: Time;
  attempted_at: NullableTime;
  /** Of the process that sends what was asked for. */
  claimed_until: NullableTime;
}
