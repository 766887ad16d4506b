import type { DeploymentPath } from '../journal/journal.js';
import type { Requests } from '../requests/requests.js';
import {
  type Checkpoint,
  CheckpointError,
  readCheckpoint,
  requireLater,
  requireOrigin,
} from './checkpoint.js';
import { readHead, type SignedCheckpoint } from './follow-checkpoints.js';
import { createMerkleTree } from './merkle-tree.js';

export interface CheckpointsToHold {
  /** Public keys of the operator, got by another way than from this server. */
  readonly keys: readonly string[];
  /** An earlier checkpoint, as it was kept. */
  readonly checkpoint?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Why the entries are not those of a checkpoint; the words are those of docs/history.md. */
export type CheckpointDivergence = 'checkpoint_differs' | 'head_differs' | 'missing_entry' | 'tail_lost';

/** The checkpoints that a history has to hold to, and the tree over its entries as they come. */
export interface SignedHistory {
  /** The checkpoint of now. */
  readonly head: SignedCheckpoint;
  /** To be called with the hash of each entry, in order. */
  add(hash: string): Promise<void>;
  /** What contradicts the checkpoints, once all entries up to the size of `head` were added. */
  divergence(): { readonly seq: number; readonly what: CheckpointDivergence } | null;
}

/** @throws CheckpointError for one that is malformed, unsigned or of another journal */
export async function beginSigned(
  requests: Requests,
  path: DeploymentPath,
  { keys, checkpoint, signal }: CheckpointsToHold,
): Promise<SignedHistory> {
  const earlier = checkpoint === undefined ? undefined : await readCheckpoint(checkpoint, keys);
  const note = await readHead(requests, path, signal);
  const head = { ...(await readCheckpoint(note, keys)), note };
  requireOrigin(path.address, head);
  const between = earlier && earlierFault(earlier, head);
  const tree = createMerkleTree();
  const roots = new Map<number, string>();
  return {
    head,
    add: async (hash) => {
      await tree.add(hash);
      if (tree.size === earlier?.size || tree.size === head.size) roots.set(tree.size, await tree.root());
    },
    divergence: () => {
      if (between !== undefined) return between;
      const holds = ({ size, rootHash }: Checkpoint) => roots.get(size) === rootHash;
      if (earlier !== undefined && !holds(earlier)) return { seq: earlier.size, what: 'checkpoint_differs' };
      return holds(head) ? null : { seq: head.size, what: 'head_differs' };
    },
  };
}

/** Whether the head cannot extend the earlier checkpoint at all. */
function earlierFault(earlier: Checkpoint, head: Checkpoint) {
  try {
    requireLater(earlier, head);
  } catch (error) {
    if (!(error instanceof CheckpointError) || error.fault === 'other_journal') throw error;
    return error.fault === 'lost'
      ? { seq: earlier.size, what: 'tail_lost' as const }
      : { seq: head.size + 1, what: 'missing_entry' as const };
  }
  return undefined;
}
