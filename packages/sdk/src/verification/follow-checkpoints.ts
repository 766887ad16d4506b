import { OrreryError } from '../errors/orrery-error.js';
import type { DeploymentPath } from '../journal/journal.js';
import type { Requests } from '../requests/requests.js';
import {
  type Checkpoint,
  CheckpointError,
  readCheckpoint,
  requireLater,
  requireOrigin,
} from './checkpoint.js';
import { isConsistent, isIncluded, leafOf } from './merkle-tree.js';

export interface CheckpointOptions {
  /** Public keys of the operator, got by another way than from this server. */
  readonly keys: readonly string[];
  /** An earlier checkpoint, as it was kept: the new one has to extend it. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A checkpoint that was accepted, with the note to keep. */
export interface SignedCheckpoint extends Checkpoint {
  readonly note: string;
}

const WITH_KEY = '/api/worlds/{worldAddress}/deployments/{address}';
const WITHOUT = '/app/deployments/{address}';

/** Where a deployment's checkpoints are: its world is named only for who has a key. */
export type CheckpointPath = Pick<DeploymentPath, 'address'> & Partial<Pick<DeploymentPath, 'worldAddress'>>;

/**
 * The checkpoint of now. With `after` it is proven that the journal still begins with what that one covers.
 *
 * @throws CheckpointError where it is not accepted; OrreryError where the server refuses
 */
export async function nextCheckpoint(
  requests: Requests,
  path: CheckpointPath,
  { keys, after, signal }: CheckpointOptions,
): Promise<SignedCheckpoint> {
  const earlier = after === undefined ? undefined : await readCheckpoint(after, keys);
  const note = await readHead(requests, path, signal);
  try {
    const later = await readCheckpoint(note, keys);
    requireOrigin(path.address, later);
    if (earlier !== undefined) {
      requireLater(earlier, later);
      const proof = await proofBetween(requests, path, earlier.size, later.size, signal);
      if (!(await isConsistent(earlier, later, proof))) throw rewritten(earlier);
    }
    return { ...later, note };
  } catch (error) {
    if (error instanceof CheckpointError) error.note = note;
    throw error;
  }
}

/** An entry whose hash was computed from what it says, and a checkpoint that was kept. */
export interface CoverOptions extends Omit<CheckpointOptions, 'after'> {
  readonly seq: number;
  readonly hash: string;
  readonly note: string;
}

/**
 * Whether a checkpoint covers an entry. One proof is read, and no other entry. @throws CheckpointError where no key has signed
 * the checkpoint, or it is of another deployment
 */
export async function isCovered(
  { answer }: Requests,
  { worldAddress, address }: CheckpointPath,
  { seq, hash, note, keys, signal }: CoverOptions,
): Promise<boolean> {
  const checkpoint = await readCheckpoint(note, keys);
  requireOrigin(address, checkpoint);
  const { size, rootHash: root } = checkpoint;
  if (seq > size) return false;
  const query = { seq, size };
  const { body } =
    worldAddress === undefined
      ? await answer('get', `${WITHOUT}/proof`, { path: { address }, query, signal })
      : await answer('get', `${WITH_KEY}/proof`, { path: { worldAddress, address }, query, signal });
  return isIncluded({ leaf: await leafOf(hash), place: seq - 1, size, root }, body.data.path);
}

const rewritten = ({ size }: Checkpoint): CheckpointError =>
  new CheckpointError(
    'rewritten',
    `The journal was rewritten: entries among the first ${size} are no longer those that the earlier checkpoint covers.`,
  );

/** The note of the checkpoint of now, not verified. */
export async function readHead(
  { answer }: Requests,
  { worldAddress, address }: CheckpointPath,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { body } =
    worldAddress === undefined
      ? await answer('get', `${WITHOUT}/head`, { path: { address }, signal })
      : await answer('get', `${WITH_KEY}/head`, { path: { worldAddress, address }, signal });
  return body.data.checkpoint;
}

/** None where the server says itself that it cannot prove it. */
async function proofBetween(
  { answer }: Requests,
  { worldAddress, address }: CheckpointPath,
  from: number,
  to: number,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const query = { from, to };
  try {
    const { body } =
      worldAddress === undefined
        ? await answer('get', `${WITHOUT}/consistency`, { path: { address }, query, signal })
        : await answer('get', `${WITH_KEY}/consistency`, { path: { worldAddress, address }, query, signal });
    return body.data.path;
  } catch (error) {
    if (error instanceof OrreryError && error.code === 'history_broken') return [];
    throw error;
  }
}
