import { OrreryError } from '../errors/orrery-error.js';
import type { components } from '../generated/api.js';
import { createJournal, type DeploymentPath, type HistoryEntry, type Journal } from '../journal/journal.js';
import type { Requests } from '../requests/requests.js';
import { canonicalJson, firstLink, hashOf } from './hash-chain.js';
import { applyChange, keyOf, type States, snapshotHash } from './states.js';

/** The first contradiction in the history; the words are those of docs/history.md. */
export interface Divergence {
  /** Address of the deployment whose journal or instances differ; of a clone it may be the source. */
  readonly deployment: string;
  readonly seq: number;
  readonly what:
    | 'missing_entry'
    | 'broken_link'
    | 'wrong_hash'
    | 'impossible_change'
    | 'snapshot_differs'
    | 'instance_differs';
  /** `schema:instanceId`. */
  readonly instance?: string;
}

/** Canonical text of an instance's state; null where it is absent. */
export type StateText = string | null;

/** Entries as they were recomputed so far, from the first. */
export interface Replay {
  readonly deployment: string;
  readonly journal: Journal;
  /** Undefined where a clone's source cannot be read: the chain alone is recomputed. */
  readonly states: States | undefined;
  /** What each instance was at some time while entries after `rememberAfter` came. */
  readonly recent: Map<string, Set<StateText>>;
  rememberAfter: number;
  seq: number;
  hash: string;
  divergence: Divergence | null;
}

type Source = components['schemas']['DeploymentSource'];

export interface ReplayContext {
  readonly requests: Requests;
  readonly signal: AbortSignal | undefined;
}

const ONE = '/api/worlds/{worldAddress}/deployments/{address}';

/** A replay before the first entry. The source of a clone is replayed up to where it was cloned. */
export async function beginReplay(context: ReplayContext, path: DeploymentPath): Promise<Replay> {
  const { requests, signal } = context;
  const { body } = await requests.answer('get', ONE, { path, signal });
  const { address: deployment, worldAddress, source } = body.data;
  const hash = await firstLink(deployment, source);
  const journal = createJournal(requests, { worldAddress, address: deployment });
  const empty = {
    deployment,
    journal,
    recent: new Map(),
    rememberAfter: Infinity,
    seq: 0,
    hash,
    divergence: null,
  };
  return source === null
    ? { ...empty, states: new Map() }
    : { ...empty, ...(await beginningOf(context, worldAddress, source, deployment)) };
}

async function beginningOf(
  context: ReplayContext,
  worldAddress: string,
  { address, seq, snapshotHash: expected }: Source,
  deployment: string,
): Promise<Pick<Replay, 'states' | 'divergence'>> {
  try {
    const original = await beginReplay(context, { worldAddress, address });
    await replayUntil(original, seq, context.signal);
    const { states, divergence } = original;
    if (divergence !== null || states === undefined) return { states, divergence };
    const isSame = (await snapshotHash(states)) === expected;
    return { states, divergence: isSame ? null : { deployment, seq: 0, what: 'snapshot_differs' } };
  } catch (error) {
    if (error instanceof OrreryError && (error.status === 404 || error.status === 403))
      return { states: undefined, divergence: null };
    throw error;
  }
}

/** Recomputes the next entries, up to `until`; stops at the first one that does not hold. */
export async function replayUntil(
  replay: Replay,
  until: number,
  signal: AbortSignal | undefined,
  onProgress?: (seq: number, until: number) => void,
): Promise<void> {
  if (replay.divergence !== null) return;
  for await (const entry of replay.journal.inOrder({ after: replay.seq, until, signal })) {
    replay.divergence = await divergenceOf(replay, entry);
    if (replay.divergence !== null) return;
    replay.seq = entry.seq;
    replay.hash = entry.hash;
    onProgress?.(entry.seq, until);
  }
  if (replay.seq < until) replay.divergence = divergence(replay, replay.seq + 1, 'missing_entry');
}

async function divergenceOf(replay: Replay, entry: HistoryEntry): Promise<Divergence | null> {
  const seq = replay.seq + 1;
  if (entry.seq !== seq) return divergence(replay, seq, 'missing_entry');
  if (entry.prevHash !== replay.hash || entry.deployment !== replay.deployment)
    return divergence(replay, seq, 'broken_link');
  if ((await hashOf(entry)) !== entry.hash) return divergence(replay, seq, 'wrong_hash');
  for (const change of entry.changes) {
    const instance = keyOf(change.entitySchema, change.instanceId);
    if (!follow(replay, instance, seq, change))
      return { ...divergence(replay, seq, 'impossible_change'), instance };
  }
  return null;
}

function follow(
  { states, recent, rememberAfter }: Replay,
  instance: string,
  seq: number,
  change: HistoryEntry['changes'][number],
): boolean {
  if (states === undefined) return true;
  const before = seq > rememberAfter ? stateText(states, instance) : null;
  if (!applyChange(states, change)) return false;
  if (seq > rememberAfter) {
    const seen = recent.get(instance) ?? new Set([before]);
    recent.set(instance, seen.add(stateText(states, instance)));
  }
  return true;
}

export function stateText(states: States, instance: string): StateText {
  const state = states.get(instance);
  return state === undefined ? null : canonicalJson(state);
}

const divergence = ({ deployment }: Replay, seq: number, what: Divergence['what']): Divergence => ({
  deployment,
  seq,
  what,
});
