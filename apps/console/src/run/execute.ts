import type { components } from '@orrery/sdk';
import {
  type DryRunAnswer,
  type DryRunOptions,
  type ExecutionAnswer,
  type JsonObject,
  type Orrery,
  OrreryError,
} from '@orrery/sdk';
import { deploymentPath } from '../api/deployment-path.js';
import type { DeploymentRef } from '../api/records.js';
import { type StatesBefore, splitKey } from './change-rows.js';
import { isObject } from './json.js';

type HistoryEntry = components['schemas']['HistoryEntry'];

/** An event with its input. */
export interface Request {
  readonly event: string;
  readonly input: JsonObject;
}
export type Outcome =
  | { readonly kind: 'dry run'; readonly answer: DryRunAnswer; readonly before: StatesBefore }
  | {
      readonly kind: 'execution';
      readonly answer: ExecutionAnswer;
      readonly before: StatesBefore;
      readonly entry: HistoryEntry;
    };

/** What a dry run may do otherwise than an execution would: another version, another model. */
export type Otherwise = Pick<DryRunOptions, 'eventVersion' | 'aiModelId'>;

/** Tries an event without committing anything. */
export async function tryEvent(
  orrery: Orrery,
  ref: DeploymentRef,
  request: Request,
  otherwise: Otherwise = {},
): Promise<Outcome> {
  const answer = await orrery.deployment(ref.world, ref.deployment).dryRun(request, otherwise);
  return { kind: 'dry run', answer, before: await statesBefore(orrery, ref, answer.stateChanges) };
}

export interface ExecutionOptions {
  /** Names the execution, so that it happens once even if its answer got lost and it is sent again. */
  readonly idempotencyKey: string;
  /** Ends the waiting, not the execution. */
  readonly signal: AbortSignal;
  /** For what takes long: it is not waited for with an open connection. */
  readonly isSlow: boolean;
}

/** Executes an event and reads its entry. @throws OrreryError with `historyId` and `seq` among its facts if it failed */
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
  const { historyId, seq, stateChanges } = answer;
  const [entry, before] = await Promise.all([
    readEntry(orrery, ref, historyId),
    statesBefore(orrery, ref, stateChanges, seq - 1),
  ]);
  return { kind: 'execution', answer, before, entry };
}

/** An entry of the history, with the texts of its model where one may see them. */
const readEntry = (orrery: Orrery, ref: DeploymentRef, historyId: string): Promise<HistoryEntry> =>
  orrery.get('/api/worlds/{worldAddress}/deployments/{address}/history/{historyId}', {
    path: { ...deploymentPath(ref), historyId },
  });

/** Of more instances the new values are shown alone. */
const MOST_STATES = 100;
const AT_ONCE = 8;

/** The states of the instances that are changed, as they were after an entry, or as they are now. */
async function statesBefore(
  orrery: Orrery,
  ref: DeploymentRef,
  changes: object,
  atSeq?: number,
): Promise<StatesBefore> {
  const keys = Object.keys(changes).slice(0, MOST_STATES);
  const states = new Map<string, JsonObject | null>();
  const readNext = async (): Promise<void> => {
    for (let key = keys.pop(); key !== undefined; key = keys.pop())
      states.set(key, await stateOf(orrery, ref, key, atSeq));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, readNext));
  return states;
}

async function stateOf(orrery: Orrery, ref: DeploymentRef, key: string, atSeq?: number) {
  const { entitySchema, instanceId } = splitKey(key);
  try {
    const path = '/api/worlds/{worldAddress}/deployments/{address}/entity-instances/{instanceId}';
    const { state } = await orrery.get(path, {
      path: { ...deploymentPath(ref), instanceId },
      query: { entitySchema, ...(atSeq !== undefined && { atSeq }) },
    });
    return state;
  } catch (error) {
    if (error instanceof OrreryError && error.status === 404) return null;
    throw error;
  }
}

/** Whether nobody knows yet what became of an execution, so that it has to be sent again with the same key. */
export function isUndecided(error: unknown): boolean {
  if (!(error instanceof OrreryError)) return false;
  return error.status === 0 || error.code === 'request_in_flight' || error.facts['outcome'] === 'unknown';
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

/** 128 random bits. `crypto.randomUUID` is missing in pages over plain HTTP. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
