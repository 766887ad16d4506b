import { OrreryError } from '../errors/orrery-error.js';
import type { components } from '../generated/api.js';
import { INNER_KINDS } from '../journal/inner-kinds.js';
import { createJournal, type DeploymentPath, type HistoryEntry, type Journal } from '../journal/journal.js';
import { pagesOf } from '../requests/lists.js';
import type { Requests } from '../requests/requests.js';
import { requireSame } from './checkpoint.js';
import type { CheckedDecisions, DecisionCheck, DecisionFault } from './decision-check.js';
import type { SignedCheckpoint } from './follow-checkpoints.js';
import {
  applyChange,
  canonicalJson,
  firstLink,
  hashedText,
  keyOf,
  type States,
  sha256,
  snapshotHash,
} from './hash-chain.js';
import { beginSigned, type CheckpointDivergence, type SignedHistory } from './signed-history.js';

export interface VerifyOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called after each entry that holds. */
  readonly onProgress?: ((seq: number, lastSeq: number) => void) | undefined;
  /**
   * Public keys of the operator, got by another way than from this server: the entries have to be those of the checkpoint that
   * one of them signs now.
   */
  readonly keys?: readonly string[] | undefined;
  /** A checkpoint that was kept: the history has to begin with what it covers. It needs `keys`. */
  readonly checkpoint?: string | undefined;
  /**
   * Also decides every execution again, from its definition, its input and the states before it. It loads some hundred
   * kilobytes of code, `@orrery/sdk/decisions`.
   */
  readonly decisions?: boolean | undefined;
}

export interface VerifiedHistory {
  readonly valid: boolean;
  /** The history holds up to this seq. */
  readonly entries: number;
  /**
   * Of these, entries whose own hash could not be checked: without a key, those about settings, whose input only the owner reads.
   * They are followed by their links in the chain alone.
   */
  readonly linked: number;
  /**
   * The hash of that entry. Where `linked` is 0 it names, with `entries`, all of the history before it: keep it to compare later.
   * Else who forges the past may let it stand: keep a checkpoint.
   */
  readonly hash: string;
  /** Instances that were compared; null where a clone's source cannot be read, so that only the chain was checked. */
  readonly instances: number | null;
  readonly firstDivergence: Divergence | null;
  /** The checkpoint of now, which covers the entries up to its size: keep its `note`. Absent unless `keys` were given. */
  readonly signed?: SignedCheckpoint;
  /** What became of the decisions; absent unless `decisions` was asked for. */
  readonly decisions?: CheckedDecisions;
}

const INSTANCES = '/api/worlds/{worldAddress}/deployments/{address}/entity-instances';

/**
 * Recomputes a deployment's hash chain and its states by docs/history.md, and compares them with the instances that the
 * service shows. The deployment may change meanwhile: an instance may then be as it was at any time since the first was
 * read. Time grows with the history, memory with the states.
 *
 * @throws CheckpointError for a checkpoint that no key has signed, and where the server answers with another deployment
 */
export async function verifyHistory(
  requests: Requests,
  path: DeploymentPath,
  { signal, onProgress, keys, checkpoint, decisions }: VerifyOptions = {},
): Promise<VerifiedHistory> {
  if (checkpoint !== undefined && keys === undefined)
    throw new TypeError('A checkpoint needs `keys`: without them anybody could have signed it.');
  const context = { requests, signal };
  const replay = await beginReplay(context, path);
  if (decisions) {
    // Some hundred kilobytes that no other verification needs.
    const { beginDecisions } = await import('@orrery/sdk/decisions');
    replay.decisions = beginDecisions(requests, replay.path, replay.source, replay.states, signal);
  }
  const signed = keys && (await beginSigned(requests, replay.path, { keys, checkpoint, signal }));
  replay.signed = signed;
  const replayAll = async () => replayUntil(replay, await replay.journal.lastSeq(signal), signal, onProgress);
  await replayAll();
  const unsigned = replay.divergence === null ? signed?.divergence() : null;
  if (unsigned) replay.divergence = { deployment: replay.deployment, ...unsigned };
  const shown = replay.states && { names: new Set<string>(), others: new Map<string, StateText>() };
  if (replay.divergence === null && shown !== undefined) {
    replay.rememberAfter = replay.seq;
    await readInstances(context, path, replay, shown);
    await replayAll();
    replay.divergence ??= difference(replay, shown);
  }
  return {
    valid: replay.divergence === null,
    entries: replay.seq,
    linked: replay.linked,
    hash: replay.hash,
    instances: shown?.names.size ?? null,
    firstDivergence: replay.divergence,
    ...(signed && { signed: signed.head }),
    ...(replay.decisions && { decisions: replay.decisions.counts }),
  };
}

/** The instances that the service shows. */
interface Shown {
  readonly names: Set<string>;
  /** Of those that are not as the replay had left them, what they are. */
  readonly others: Map<string, StateText>;
}

/** Each page begins behind the last instance of the one before: what is there all the time is in one of them. */
async function readInstances(
  { requests, signal }: ReplayContext,
  path: DeploymentPath,
  { states = new Map() }: Replay,
  { names, others }: Shown,
): Promise<void> {
  for await (const { data } of pagesOf(requests, INSTANCES, { path, query: { orderBy: 'id' }, signal }))
    for (const { entitySchema, instanceId, ...instance } of data) {
      const name = keyOf(entitySchema, instanceId);
      const text = textOf(instance);
      names.add(name);
      if (text !== stateText(states, name)) others.set(name, text);
    }
}

/** The first instance that is not what its changes say. */
function difference(replay: Replay, { names, others }: Shown): Divergence | null {
  const differs = (instance: string): Divergence => ({
    ...divergence(replay, replay.seq, 'instance_differs'),
    instance,
  });
  for (const [instance, text] of others)
    if (!replay.recent.get(instance)?.has(text)) return differs(instance);
  for (const instance of replay.states?.keys() ?? [])
    if (!names.has(instance) && !replay.recent.get(instance)?.has(null)) return differs(instance);
  return null;
}

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
    | 'instance_differs'
    | CheckpointDivergence
    | DecisionFault;
  /** `schema:instanceId`. */
  readonly instance?: string;
}

/** Canonical text of an instance's state and revision; null where it is absent. */
export type StateText = string | null;

/** Entries as they were recomputed so far, from the first. */
export interface Replay {
  readonly deployment: string;
  readonly path: DeploymentPath;
  /** Address of what it was cloned from. */
  readonly source: string | undefined;
  readonly journal: Journal;
  /** The inputs of entries about settings are left out for its reader. */
  readonly isWithoutKey: boolean;
  /** Undefined where a clone's source cannot be read: the chain alone is recomputed. */
  readonly states: States | undefined;
  /** What each instance was at some time while entries after `rememberAfter` came. */
  readonly recent: Map<string, Set<StateText>>;
  /** Undefined: decisions are not checked. */
  decisions: DecisionCheck | undefined;
  rememberAfter: number;
  /** The checkpoints that its entries have to hold to. */
  signed?: SignedHistory | undefined;
  seq: number;
  linked: number;
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
  // Its history would hold, and the operator has signed it too.
  requireSame(path.address, deployment);
  const hash = await firstLink(deployment, source);
  const exact = { worldAddress, address: deployment };
  const empty = {
    deployment,
    path: exact,
    source: source?.address,
    journal: createJournal(requests, exact),
    isWithoutKey: requests.isWithoutKey === true,
    recent: new Map(),
    decisions: undefined,
    rememberAfter: Infinity,
    seq: 0,
    linked: 0,
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
    for (const [key, { state }] of states) states.set(key, { state, revision: 1 });
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
    await replay.signed?.add(entry.hash);
    onProgress?.(entry.seq, until);
  }
  if (replay.seq < until) replay.divergence = divergence(replay, replay.seq + 1, 'missing_entry');
}

/** WebCrypto answers later, which takes longer than the hash: what decides brings another one. */
function hashOf(
  entry: HistoryEntry,
  decisions: DecisionCheck | undefined,
): string | Promise<string> | undefined {
  const text = hashedText(entry);
  return text === undefined ? undefined : (decisions?.sha256 ?? sha256)(text);
}

async function divergenceOf(replay: Replay, entry: HistoryEntry): Promise<Divergence | null> {
  const seq = replay.seq + 1;
  if (entry.seq !== seq) return divergence(replay, seq, 'missing_entry');
  if (entry.prevHash !== replay.hash || entry.deployment !== replay.deployment)
    return divergence(replay, seq, 'broken_link');
  const { decisions } = replay;
  if (replay.isWithoutKey && isOfSettings(entry)) replay.linked += 1;
  else if ((await hashOf(entry, decisions)) !== entry.hash) return divergence(replay, seq, 'wrong_hash');
  const decided = decisions?.check(entry);
  const fault = decided instanceof Promise ? await decided : decided;
  if (fault !== undefined) return divergence(replay, fault.seq, fault.what);
  for (const change of entry.changes) {
    const instance = keyOf(change.entitySchema, change.instanceId);
    if (!follow(replay, instance, seq, change))
      return { ...divergence(replay, seq, 'impossible_change'), instance };
  }
  decisions?.follow(entry);
  return null;
}

/** Who has no key is not told the input of an entry about the deployment itself, which changes no instance. */
const isOfSettings = ({ kind, input, changes }: HistoryEntry): boolean =>
  (input as unknown) === undefined && !INNER_KINDS.has(kind) && changes.length === 0;

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
  const known = states.get(instance);
  return known === undefined ? null : textOf(known);
}

const textOf = ({ state, revision }: { readonly state: unknown; readonly revision: number }): string =>
  canonicalJson({ state, revision });

const divergence = ({ deployment }: Replay, seq: number, what: Divergence['what']): Divergence => ({
  deployment,
  seq,
  what,
});
