import {
  type BindingRecord,
  canonicalHash,
  EVALUATOR,
  type JsonObject,
  ServiceError,
  type VersionDefinition,
  type WorldTexts,
} from '@orrery/contracts';
import type { Selectable } from 'kysely';
import type { Commitments } from '../../core/randomness/secrets.js';
import type { RunState, RuntimeSchema } from '../tables/schema.js';
import type { AnsweredKeys } from './answered-keys.js';
import type { AttributeIndex } from './attribute-indexes.js';
import type { ClaimedMessages } from './claimed-messages.js';
import type { InstanceMemory } from './instance-memory.js';
import type { PendingTimers } from './pending-timers.js';

export interface DeploymentRow extends Selectable<RuntimeSchema['deployments']> {
  /** Of a what-if fork: whether it stays; null for any other deployment. */
  is_kept: boolean | null;
  /** What it has committed to for random numbers; null: nothing was drawn. */
  randomness: Commitments | null;
  /** Whether others may read the definitions that it has executed. */
  is_code_public: boolean;
}

/** `is_code_public` of the deployment `d`. */
export const IS_CODE_PUBLIC =
  'exists (select from code_access c where c.deployment_id = d.id and c.is_public)';

/** `is_kept` of the deployment `d`. */
export const IS_KEPT = '(select w.is_kept from what_if_forks w where w.deployment_id = d.id)';

/** `randomness` of the deployment `d`. */
export const RANDOMNESS = '(select c.commitments from randomness c where c.deployment_id = d.id)';

/** The columns of the deployment `d` by their names: a newer release may have added others. */
const OWN_COLUMNS = [
  ...['id', 'address', 'world_id', 'world_address', 'owner_account_id', 'name', 'description', 'mode'],
  ...['is_public', 'owner_paused', 'operator_paused', 'account_paused', 'is_llm_public', 'ai_model_id'],
  ...['ai_daily_budget_usd', 'pay_to_address', 'locked_at', 'definition_hash', 'locked_definition', 'source'],
  ...['deleted_at', 'created_at', 'updated_at'],
].map((name) => `d.${name}`);

/** A row of the deployment `d`, as `DeploymentRow` says. */
export const ROW_COLUMNS = [
  ...OWN_COLUMNS,
  ...[`${IS_KEPT} as is_kept`, `${IS_CODE_PUBLIC} as is_code_public`, `${RANDOMNESS} as randomness`],
].join(', ');

/** An event bound to a version. */
export interface Binding extends Readonly<Omit<BindingRecord, 'createdAt' | 'updatedAt'>> {
  readonly versionId: number;
  /** Of the claim on the version; null where an older release made the binding. */
  readonly claimRevision: number | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The last entry of a deployment's journal; `totals` are the counters that lists show. */
export interface JournalHead {
  readonly seq: number;
  readonly hash: string;
  /** RFC 3339, UTC, milliseconds: such texts are in the order of their times. */
  readonly executedAt: string;
  readonly totals: Readonly<Record<string, number>>;
}

/** A time for what follows the journal's last entry, in milliseconds: none is earlier than the entry before it. */
export const timeAfter = ({ executedAt }: JournalHead, now: number): number =>
  Math.max(now, Date.parse(executedAt));

export interface ClaimedSchema {
  readonly schemaId: number;
  /** Of the claim at the catalog; null where an older release made it. */
  readonly revision: number | null;
  readonly committed: boolean;
}

/** Identifies an Idempotency-Key among those of a deployment. */
export const keyIdOf = (key: { accountId: number; operation: string; key: string }): string =>
  JSON.stringify([key.accountId, key.operation, key.key]);

/**
 * A deployment at its owner, as its rows will be once the batch in flight is committed. Items are decided against it one
 * after the other and change it at once. When a commit fails or its outcome is unknown, the state is forgotten and read
 * again.
 */
export interface DeploymentState {
  readonly id: number;
  readonly partition: number;
  /** The lease's epoch when this was read; the database refuses a commit under another one. */
  readonly epoch: number;
  row: DeploymentRow;
  head: JournalHead;
  bindings: ReadonlyMap<string, Binding>;
  readonly instances: InstanceMemory;
  /** Schemas that the deployment has claimed from the catalog, by name; `committed` once the first instance is. */
  readonly claimedSchemas: Map<string, ClaimedSchema>;
  readonly keys: AnsweredKeys;
  /** When it was read, in milliseconds since the epoch. */
  readonly readAt: number;
  /** Of all deployments. */
  readonly messages: ClaimedMessages;
  /** Runs that have not ended, with what they hold. */
  readonly runs: OpenRuns;
  readonly timers: PendingTimers;
  /** What its commits keep beside the instances: none for most deployments. */
  indexes: readonly AttributeIndex[];
}

type Pauses = Pick<DeploymentRow, 'owner_paused' | 'operator_paused' | 'account_paused'>;

export const isPaused = (row: Pauses): boolean =>
  row.owner_paused || row.operator_paused || row.account_paused;

/** @throws `deployment_paused`, which says who can resume it */
export function refusePaused(row: Pauses): void {
  if (!isPaused(row)) return;
  const who = row.owner_paused ? 'Its owner' : 'The operator of the service';
  throw new ServiceError('deployment_paused', `${who} has paused it, and alone can resume it.`);
}

/** What no other item may change while a run holds it. */
export interface Holds {
  /** By their keys in changes (`horse:HORSE_1`), including instances that do not exist. */
  readonly instances: readonly string[];
  /** Schemas whose instances may not be changed, created or deleted. */
  readonly schemas: readonly string[];
  /** When the run ends at the latest, in milliseconds since the epoch; absent for one that waits for its payment. */
  readonly until?: number;
  /** How many instances the run will add: room under the deployment's limit that is reserved for it. */
  readonly room?: number;
}

/** What the deployment's other items must know of a run that has not ended. */
export interface OpenRun {
  readonly id: string;
  /** Which commit its row is from; each commit that changes the row compares it and raises it. */
  readonly step: number;
  /** The Idempotency-Key that it has claimed. */
  readonly claim: { readonly keyId: string; readonly requestHash: string } | null;
  readonly holds: Holds | null;
  /** Its outcome waits for a payment: until then neither bindings nor mode and pauses may change. */
  readonly staged: boolean;
  /** Its payment may be charged or is, and what it pays for is not committed: the deployment cannot be deleted. */
  readonly awaitsPayment: boolean;
}

/** What a locked deployment runs, for ever; `definitionHash` is its hash. */
export interface LockedDefinition {
  readonly world: WorldTexts;
  readonly aiModelId: string | null;
  readonly bindings: readonly {
    readonly event: string;
    readonly eventVersion: number;
    readonly versionHash: string;
  }[];
  /** The revision of the rules that it runs with. Absent, and so not hashed: 1. */
  readonly evaluator?: number;
}

/** Undefined while the deployment is not locked. */
export const lockedDefinitionOf = ({
  mode,
  locked_definition: stored,
}: Pick<DeploymentRow, 'mode' | 'locked_definition'>): LockedDefinition | undefined =>
  // Written by the lock.
  mode === 'locked' ? (stored as unknown as LockedDefinition) : undefined;

export const lockedDefinition = (
  definitions: readonly VersionDefinition[],
  world: WorldTexts,
  aiModelId: string | null,
): LockedDefinition => ({
  world,
  aiModelId,
  evaluator: EVALUATOR,
  bindings: definitions
    .map(({ event, version, versionHash }) => ({ event, eventVersion: version, versionHash }))
    .sort((a, b) => (a.event < b.event ? -1 : 1)),
});

export const lockedColumns = (definition: LockedDefinition, at: Date) => ({
  mode: 'locked' as const,
  locked_at: at,
  ai_model_id: definition.aiModelId,
  definition_hash: canonicalHash(asJson(definition)),
  locked_definition: asJson(definition),
});

const asJson = (definition: LockedDefinition): JsonObject => definition as unknown as JsonObject;

const AWAITING: readonly string[] = ['awaiting_payment', 'paid', 'paid_decided'] satisfies RunState[];

/** Whether a run in this state waits for its payment, or is decided anew after it. */
export const awaitsPayment = (state: string): boolean => AWAITING.includes(state);

/** What an item can wait for: runs hold names (`OpenRuns`). */
export type HoldName = string;

export const ofInstance = (key: string): HoldName => `instance ${key}`;
/** A schema that is held whole. */
export const ofSchema = (schema: string): HoldName => `schema ${schema}`;
/** Held with any instance of a schema, so that another run cannot hold the schema whole. */
export const ofInstancesIn = (schema: string): HoldName => `instances in ${schema}`;
/** What a run that waits for its payment holds: the bindings, the mode and the pauses. */
export const WHAT_RUNS: HoldName = 'what runs';
/**
 * What a run waits for that is to be staged, while an item waits for `WHAT_RUNS`: many runs can hold that at the same
 * time, so steady payments would keep the item out for ever. The item waits for staged runs only, and those wait for
 * nobody, so the two never wait for each other.
 */
export const TURN_TO_STAGE: HoldName = 'turn to stage';

const schemaOf = (key: string): string => key.slice(0, key.indexOf(':'));

const namesOf = ({ holds, staged }: Pick<OpenRun, 'holds' | 'staged'>): HoldName[] => [
  ...(holds?.instances ?? []).flatMap((key) => [ofInstance(key), ofInstancesIn(schemaOf(key))]),
  ...(holds?.schemas ?? []).map(ofSchema),
  ...(staged ? [WHAT_RUNS] : []),
];

/**
 * The runs of a deployment that have not ended, by id, and an index of what they hold and claim: a look-up costs the
 * same however many runs there are.
 */
export class OpenRuns {
  readonly #runs = new Map<string, OpenRun>();
  readonly #holders = new Map<HoldName, Set<string>>();
  readonly #claims = new Map<string, OpenRun>();
  #room = 0;
  #awaiting = 0;

  constructor(runs: readonly OpenRun[] = []) {
    for (const run of runs) this.set(run);
  }

  get size(): number {
    return this.#runs.size;
  }

  /** Runs whose payments are unclear, or that are decided anew after them. */
  get awaiting(): number {
    return this.#awaiting;
  }

  /** Instances for which runs have reserved room. */
  get room(): number {
    return this.#room;
  }

  get(id: string): OpenRun | undefined {
    return this.#runs.get(id);
  }

  has(id: string): boolean {
    return this.#runs.has(id);
  }

  set(run: OpenRun): void {
    this.delete(run.id);
    this.#runs.set(run.id, run);
    this.#room += run.holds?.room ?? 0;
    if (run.awaitsPayment) this.#awaiting += 1;
    if (run.claim !== null) this.#claims.set(run.claim.keyId, run);
    for (const name of namesOf(run)) {
      const holders = this.#holders.get(name);
      if (holders === undefined) this.#holders.set(name, new Set([run.id]));
      else holders.add(run.id);
    }
  }

  delete(id: string): void {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    this.#runs.delete(id);
    this.#room -= run.holds?.room ?? 0;
    if (run.awaitsPayment) this.#awaiting -= 1;
    if (run.claim !== null) this.#claims.delete(run.claim.keyId);
    for (const name of namesOf(run)) {
      const holders = this.#holders.get(name);
      holders?.delete(id);
      if (holders?.size === 0) this.#holders.delete(name);
    }
  }

  /** The run that has claimed an Idempotency-Key. */
  claimantOf(keyId: string): OpenRun | undefined {
    return this.#claims.get(keyId);
  }

  /** Whether another run than `own` holds this. */
  isHeld(name: HoldName, own?: string): boolean {
    const holders = this.#holders.get(name);
    return holders !== undefined && holders.size > (own !== undefined && holders.has(own) ? 1 : 0);
  }
}

/** The first name that a run wants to hold and another run holds; `undefined` when it can hold all of them. */
export function inTheWayOf(wanted: Holds, runs: OpenRuns, own: string): HoldName | undefined {
  for (const key of wanted.instances) {
    for (const name of [ofInstance(key), ofSchema(schemaOf(key))]) if (runs.isHeld(name, own)) return name;
  }
  for (const schema of wanted.schemas) {
    for (const name of [ofSchema(schema), ofInstancesIn(schema)]) if (runs.isHeld(name, own)) return name;
  }
  return undefined;
}
