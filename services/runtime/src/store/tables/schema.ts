import type {
  DeploymentSource,
  ExecutionTrigger,
  FailedCode,
  JournalVersion,
  JsonObject,
  JsonValue,
  KeptDefinition,
  OnchainFilter,
  PaymentStatus,
} from '@orrery/contracts';
import type { ColumnType, Generated, Kysely, Transaction } from 'kysely';

/** Tables of the schema `runtime`, as queries see them; the migrations say what each is for. SQL alone names the others. */
export interface RuntimeSchema {
  deployments: DeploymentsTable;
  what_if_forks: WhatIfForksTable;
  randomness: { deployment_id: number; commitments: Json<JsonObject> };
  code_access: { deployment_id: number; is_public: boolean };
  bindings: BindingsTable;
  claimed_schemas: ClaimedSchemasTable;
  instances: InstancesTable;
  kept_states: KeptStatesTable;
  journal: JournalTable;
  journal_heads: JournalHeadsTable;
  journal_form: { version: JournalVersion; keeps_indexes: Generated<boolean> };
  definitions: { world_id: number; hash: string; definition: Json<KeptDefinition> };
  instance_changes: InstanceChangesTable;
  lifetime_heads: LifetimeHeadsTable;
  idempotency_keys: IdempotencyKeysTable;
  runs: RunsTable;
  once_keys: OnceKeysTable;
  payments: PaymentsTable;
  payment_totals: PaymentTotalsTable;
}

/** Written through `jsonb()`, so that arrays and JSON's null are not mistaken for SQL's. */
type Json<T> = T;
type NullableJson<T> = T | null;
type Time = ColumnType<Date, Date | string, Date | string>;
type NullableTime = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;

interface DeploymentsTable {
  id: Generated<number>;
  address: string;
  world_id: number;
  world_address: string;
  owner_account_id: number;
  name: string;
  description: string | null;
  mode: 'upgradable' | 'locked';
  is_public: Generated<boolean>;
  owner_paused: Generated<boolean>;
  operator_paused: Generated<boolean>;
  account_paused: Generated<boolean>;
  is_llm_public: boolean;
  ai_model_id: string | null;
  ai_daily_budget_usd: number | null;
  pay_to_address: string | null;
  locked_at: NullableTime;
  definition_hash: string | null;
  locked_definition: NullableJson<JsonObject>;
  source: NullableJson<DeploymentSource>;
  deleted_at: NullableTime;
  created_at: Time;
  updated_at: Time;
}

interface WhatIfForksTable {
  deployment_id: number;
  is_kept: Generated<boolean>;
}

interface BindingsTable {
  id: number;
  deployment_id: number;
  event: string;
  version_id: number;
  event_version: number;
  target_chains: Json<string[]>;
  onchain: NullableJson<OnchainFilter>;
  claim_revision: Generated<number | null>;
  created_at: Time;
  updated_at: Time;
}

interface ClaimedSchemasTable {
  deployment_id: number;
  entity_schema: string;
  schema_id: number;
  claim_revision: Generated<number | null>;
}

interface InstancesTable {
  id: number;
  deployment_id: number;
  entity_schema: string;
  instance_id: string;
  state: Json<JsonObject>;
  revision: number;
  created_at: Time;
  updated_at: Time;
}

interface KeptStatesTable {
  deployment_id: number;
  entity_schema: string;
  instance_id: string;
  seq: number;
  revision: number;
  state: NullableJson<JsonObject>;
}

interface JournalTable {
  deployment_id: number;
  seq: number;
  id: string;
  v: number;
  kind: string;
  event: string | null;
  event_version: number | null;
  version_hash: string | null;
  trigger: ExecutionTrigger | null;
  caller: string;
  status: 'succeeded' | 'failed' | null;
  input: NullableJson<JsonValue>;
  changes: Json<JsonValue>;
  result: NullableJson<JsonValue>;
  error: NullableJson<JsonObject>;
  llm_hash: string | null;
  attestation: NullableJson<JsonObject>;
  payment_key: string | null;
  executed_at: Time;
  prev_hash: string;
  hash: string;
  llm: NullableJson<JsonObject>;
  payment: NullableJson<JsonObject>;
  pushes: NullableJson<JsonValue>;
  duration_ms: number | null;
  decided_at: NullableTime;
  evaluator: Generated<number | null>;
  recorded: Generated<NullableJson<JsonObject>>;
  failed_code: Generated<NullableJson<FailedCode>>;
}

interface JournalHeadsTable {
  deployment_id: number;
  seq: number;
  hash: string;
  totals: Json<Record<string, number>>;
  active_minute: Generated<number>;
  /** All entries up to it are published; later ones may be, too. */
  published: Generated<number>;
}

interface InstanceChangesTable {
  deployment_id: number;
  entity_schema: string;
  instance_id: string;
  seq: number;
}

interface LifetimeHeadsTable {
  deployment_id: number;
  seq: number;
}

interface IdempotencyKeysTable {
  account_id: number;
  operation: string;
  key: string;
  request_hash: string;
  reply: Json<JsonValue>;
  created_at: Time;
}

/** The states of a run; `runs/steps/drive-run.ts` says what they mean. */
export type RunState =
  | 'deciding'
  | 'decided'
  | 'staged'
  | 'awaiting_payment'
  | 'paid'
  | 'paid_decided'
  | 'succeeded'
  | 'failed';

interface RunsTable {
  id: string;
  deployment_id: number;
  state: RunState;
  request: Json<JsonObject>;
  request_hash: string;
  account_id: number | null;
  operation: string | null;
  key: string | null;
  deadline: Time;
  attempts: Generated<number>;
  holding: Generated<boolean>;
  holds: NullableJson<JsonObject>;
  basis: NullableJson<JsonObject>;
  proposal: NullableJson<JsonObject>;
  reply: NullableJson<JsonValue>;
  error: NullableJson<JsonObject>;
  /** Counted up by each commit that changes the row. */
  step: Generated<number>;
  evidence: Generated<NullableJson<JsonValue>>;
  /** What is committed once the payment is settled. */
  staged: Generated<NullableJson<JsonObject>>;
  call_id: Generated<string | null>;
  created_at: Time;
  ended_at: NullableTime;
}

interface OnceKeysTable {
  scope: string;
  key: string;
  request_hash: string;
  deployment_id: number;
  run_id: string | null;
  reply: NullableJson<JsonValue>;
  /** Of the journal entry that holds the answer; null where `reply` holds it. */
  seq: Generated<number | null>;
  created_at: Time;
  expires_at: NullableTime;
}

interface PaymentsTable {
  key: string;
  number: Generated<number>;
  deployment_id: number;
  run_id: string;
  status: PaymentStatus;
  wallet: string;
  event: string;
  input_hash: string;
  network: string;
  asset: string;
  /** In the smallest unit of the asset. */
  amount: string;
  decimals: number;
  pay_to: string;
  payer: string;
  /** The payment as it was offered, and the requirement that it fulfils. */
  offered: Json<JsonObject>;
  valid_until: Time;
  settling_at: NullableTime;
  transaction: string | null;
  /** What our calls to settle it may have sent; null while none has ended without telling. */
  calls: Generated<NullableJson<JsonObject>>;
  reason: string | null;
  /** Of the journal entry of its execution. */
  seq: number | null;
  /** When the chain is to be asked for its outcome. */
  check_at: NullableTime;
  created_at: Time;
  updated_at: Time;
}

interface PaymentTotalsTable {
  deployment_id: number;
  network: string;
  asset: string;
  decimals: number;
  status: PaymentStatus;
  payments: number;
  amount: string;
}

export type Db = Kysely<RuntimeSchema>;
export type Trx = Transaction<RuntimeSchema>;
