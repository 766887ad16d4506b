import { OrreryError } from '../errors/orrery-error.js';
import type { DeploymentPath } from '../journal/journal.js';
import { pagesOf } from '../requests/lists.js';
import type { Requests } from '../requests/requests.js';
import { canonicalJson } from './hash-chain.js';
import {
  beginReplay,
  type Divergence,
  type Replay,
  type ReplayContext,
  replayUntil,
  type StateText,
  stateText,
} from './replay.js';
import { keyOf } from './states.js';

export interface VerifyOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called after each entry that holds. */
  readonly onProgress?: ((seq: number, lastSeq: number) => void) | undefined;
}

export interface VerifiedHistory {
  readonly valid: boolean;
  /** The history holds up to this seq. */
  readonly entries: number;
  /** The hash of that entry: with `entries` it names all of the history before it. Keep it to compare later. */
  readonly hash: string;
  /** Instances that were compared; null where a clone's source cannot be read, so that only the chain was checked. */
  readonly instances: number | null;
  readonly firstDivergence: Divergence | null;
}

const INSTANCES = '/api/worlds/{worldAddress}/deployments/{address}/entity-instances';
const INSTANCE = '/api/worlds/{worldAddress}/deployments/{address}/entity-instances/{instanceId}';

/**
 * Recomputes a deployment's hash chain and its states by docs/history.md, and compares them with the instances that the
 * service shows. The deployment may change meanwhile: an instance may then be as it was at any time since the first was
 * read. Time and memory grow with the history and with the states.
 */
export async function verifyHistory(
  requests: Requests,
  path: DeploymentPath,
  { signal, onProgress }: VerifyOptions = {},
): Promise<VerifiedHistory> {
  const context = { requests, signal };
  const replay = await beginReplay(context, path);
  replay.rememberAfter = await replay.journal.lastSeq(signal);
  const shown = replay.states && (await readInstances(context, path));
  await replayUntil(replay, await replay.journal.lastSeq(signal), signal, onProgress);
  if (replay.divergence === null && shown !== undefined)
    replay.divergence = await compare(context, path, replay, shown);
  return {
    valid: replay.divergence === null,
    entries: replay.seq,
    hash: replay.hash,
    instances: shown?.size ?? null,
    firstDivergence: replay.divergence,
  };
}

async function readInstances(
  { requests, signal }: ReplayContext,
  path: DeploymentPath,
): Promise<Map<string, StateText>> {
  const shown = new Map<string, StateText>();
  for await (const { data } of pagesOf(requests, INSTANCES, { path, signal }))
    for (const { entitySchema, instanceId, state } of data)
      shown.set(keyOf(entitySchema, instanceId), canonicalJson(state));
  return shown;
}

/** The first instance that is not what its changes say. */
async function compare(
  context: ReplayContext,
  path: DeploymentPath,
  replay: Replay,
  shown: Map<string, StateText>,
): Promise<Divergence | null> {
  for (const instance of new Set([...shown.keys(), ...(replay.states?.keys() ?? [])])) {
    const isRight =
      mayBe(replay, instance, shown.get(instance) ?? null) ||
      (!shown.has(instance) && (await isRightAlone(context, path, replay, shown, instance)));
    if (replay.divergence !== null) return replay.divergence;
    if (!isRight)
      return { deployment: replay.deployment, seq: replay.seq, what: 'instance_differs', instance };
  }
  return null;
}

const mayBe = ({ states, recent }: Replay, instance: string, text: StateText): boolean =>
  recent.get(instance)?.has(text) ?? (states === undefined || stateText(states, instance) === text);

/** An instance may be missing from the pages because another one was deleted between two of them: it is read alone. */
async function isRightAlone(
  { requests, signal }: ReplayContext,
  path: DeploymentPath,
  replay: Replay,
  shown: Map<string, StateText>,
  instance: string,
): Promise<boolean> {
  const [entitySchema = '', instanceId = ''] = /^([^:]*):(.*)$/s.exec(instance)?.slice(1) ?? [];
  const text = await requests
    .answer('get', INSTANCE, { path: { ...path, instanceId }, query: { entitySchema }, signal })
    .then(({ body }) => canonicalJson(body.data.state))
    .catch((error: unknown) => {
      if (error instanceof OrreryError && error.code === 'entity_instance_not_found') return null;
      throw error;
    });
  if (text !== null) shown.set(instance, text);
  await replayUntil(replay, await replay.journal.lastSeq(signal), signal);
  return mayBe(replay, instance, text);
}
