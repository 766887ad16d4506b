import type {
  DryRunAnswer,
  DryRunOptions,
  ExecutionAnswer,
  HistoryEntry,
  JsonObject,
  Orrery,
  TryRequest,
} from '@orrery/sdk';
import { OrreryError } from '@orrery/sdk';
import { DEPLOYMENT, deploymentPath, INSTANCES, instanceKey, splitKey } from '../api/deployments.js';
import type { DeploymentRef } from '../api/records.js';
import { isObject } from '../forms/json.js';
import type { StatesBefore } from './changes.js';

export interface Request {
  readonly event: string;
  readonly input: JsonObject;
}
export type Outcome =
  | ({
      readonly kind: 'dry run';
      readonly answer: DryRunAnswer;
      /** The version is not saved. */
      readonly isDraft?: true;
    } & Around)
  | ({
      readonly kind: 'execution';
      readonly answer: ExecutionAnswer;
      /** Null where it could not be read. */
      readonly entry: HistoryEntry | null;
    } & Around);

/** What is read beside an answer, to show it. The answer stands, also where that fails. */
interface Around {
  readonly before: StatesBefore;
  /** Why not all of it could be read; null where it was. */
  readonly unread: unknown;
}

const nothingRead = (unread: unknown): Around => ({ before: new Map(), unread });

/** What a dry run may do otherwise than an execution would: another version, another model. */
export type Otherwise = Pick<DryRunOptions, 'eventVersion' | 'aiModelId'>;

export async function tryEvent(
  orrery: Orrery,
  ref: DeploymentRef,
  request: Request,
  otherwise: Otherwise = {},
): Promise<Outcome> {
  const answer = await orrery.deployment(ref.world, ref.deployment).dryRun(request, otherwise);
  const around = await readStates(orrery, ref, answer).catch(nothingRead);
  return { kind: 'dry run', answer, ...around };
}

/** A dry run of a version that is not saved. */
export async function tryDraft(orrery: Orrery, ref: DeploymentRef, request: TryRequest): Promise<Outcome> {
  const answer = await orrery.deployment(ref.world, ref.deployment).tryVersion(request);
  const around = await readStates(orrery, ref, answer).catch(nothingRead);
  return { kind: 'dry run', answer, isDraft: true, ...around };
}

async function readStates(orrery: Orrery, ref: DeploymentRef, answer: DryRunAnswer): Promise<Around> {
  const keys = Object.keys(answer.stateChanges).slice(0, MOST_STATES);
  const known = await statesOfSmallSchemas(orrery, ref, keys);
  return { before: await statesBefore(orrery, ref, keys, { known }), unread: null };
}

export interface ExecutionOptions {
  /** Names the execution, so that it happens once even if its answer got lost and it is sent again. */
  readonly idempotencyKey: string;
  /** Ends the waiting, not the execution. */
  readonly signal: AbortSignal;
  /** For what takes long: it is not waited for with an open connection. */
  readonly isSlow: boolean;
}

/** Executes an event and reads its entry, if that can be read. @throws OrreryError with `historyId` and `seq` among its facts if it failed */
export async function executeEvent(
  orrery: Orrery,
  ref: DeploymentRef,
  request: Request,
  { isSlow, signal, idempotencyKey }: ExecutionOptions,
): Promise<Outcome> {
  const deployment = orrery.deployment(ref.world, ref.deployment);
  const answer = isSlow
    ? await deployment.waitFor(await deployment.start(request, { idempotencyKey, signal }), { signal })
    : await deployment.execute(request, { idempotencyKey, signal });
  const around = await readEntryAndStates(orrery, ref, answer).catch((error: unknown) => ({
    ...nothingRead(error),
    entry: null,
  }));
  return { kind: 'execution', answer, ...around };
}

async function readEntryAndStates(
  orrery: Orrery,
  ref: DeploymentRef,
  { historyId, seq, stateChanges }: ExecutionAnswer,
): Promise<Around & { entry: HistoryEntry }> {
  const path = { ...deploymentPath(ref), historyId };
  const entry = await orrery.get(`${DEPLOYMENT}/history/{historyId}`, { path });
  const created = entry.changes
    .filter(({ op }) => op === 'create')
    .map((change) => [instanceKey(change), null] as const);
  const keys = Object.keys(stateChanges).slice(0, MOST_STATES);
  const before = await statesBefore(orrery, ref, keys, { known: new Map(created), atSeq: seq - 1 });
  return { entry, before, unread: null };
}

/** Of more instances the new values are shown alone. */
const MOST_STATES = 100;
const AT_ONCE = 8;

interface Before {
  /** What need not be asked for: of an instance that is not there yet a browser would log an error. */
  readonly known: StatesBefore;
  /** Absent: as they are now. */
  readonly atSeq?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The states of the instances that are changed, as they were after an entry, or as they are now; null: absent. */
async function statesBefore(
  orrery: Orrery,
  ref: DeploymentRef,
  keys: readonly string[],
  { known, atSeq, signal }: Before,
): Promise<StatesBefore> {
  const states = new Map(known);
  const unknown = keys.filter((key) => !known.has(key));
  const readNext = async (): Promise<void> => {
    for (let key = unknown.pop(); key !== undefined; key = unknown.pop())
      states.set(key, await stateOf(orrery, ref, key, { atSeq, signal }));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, readNext));
  return states;
}

/** The states of some instances as they were after an entry; null: absent. */
export const statesAt = (
  orrery: Orrery,
  ref: DeploymentRef,
  keys: readonly string[],
  atSeq: number,
  signal: AbortSignal,
) => statesBefore(orrery, ref, keys, { known: new Map(), atSeq, signal });

/** Instances of a schema that are listed in place of asking for each. */
const SMALL = 50;

/** The states, or null, of those keys whose schema has few instances. */
async function statesOfSmallSchemas(
  orrery: Orrery,
  ref: DeploymentRef,
  keys: readonly string[],
): Promise<StatesBefore> {
  const schemas = [...new Set(keys.map((key) => splitKey(key).entitySchema))];
  const pages = await Promise.all(
    schemas.map((entitySchema) =>
      orrery.answer('get', INSTANCES, { path: deploymentPath(ref), query: { entitySchema, limit: SMALL } }),
    ),
  );
  const isSmall = new Map(
    schemas.map((schema, at) => {
      const { pagination } = pages[at] ?? {};
      return [schema, pagination !== undefined && 'page' in pagination && pagination.totalPages === 1];
    }),
  );
  const listed = pages.flatMap(({ data }) => data.map((one) => [instanceKey(one), one.state] as const));
  const states = new Map<string, JsonObject>(listed);
  const known = keys.filter((key) => isSmall.get(splitKey(key).entitySchema));
  return new Map(known.map((key) => [key, states.get(key) ?? null]));
}

async function stateOf(
  orrery: Orrery,
  ref: DeploymentRef,
  key: string,
  { atSeq, signal }: Pick<Before, 'atSeq' | 'signal'> = {},
) {
  const { entitySchema, instanceId } = splitKey(key);
  try {
    const { state } = await orrery.get(`${INSTANCES}/{instanceId}`, {
      path: { ...deploymentPath(ref), instanceId },
      query: { entitySchema, ...(atSeq !== undefined && { atSeq }) },
      signal,
    });
    return state;
  } catch (error) {
    if (error instanceof OrreryError && error.status === 404) return null;
    throw error;
  }
}

/** The entry that a failed execution has left; undefined where it was refused before it read anything. */
export function failedEntryOf(error: unknown): number | undefined {
  const seq = error instanceof OrreryError ? error.facts['seq'] : undefined;
  return typeof seq === 'number' ? seq : undefined;
}

/** What a model was asked in a try that failed; null where none was. */
export function llmOfError(error: unknown): JsonObject | null {
  const llm = error instanceof OrreryError ? error.facts['llm'] : undefined;
  return isObject(llm) ? llm : null;
}
