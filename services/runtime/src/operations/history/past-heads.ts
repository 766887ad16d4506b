import {
  type CallContext,
  type pastHeadRpcs,
  type ReplyOf,
  type RequestOf,
  ServiceError,
} from '@orrery/contracts';
import type { WorkItem } from '../../lane/items/work-item.js';
import { endOf, lastEntryBefore } from '../../store/journal/past-heads.js';
import type { RuntimeContext } from '../context.js';
import { inTree } from './checkpoints.js';

type HeadBefore = (typeof pastHeadRpcs)['journal.headBefore'];

/** How far the times of two processes that wrote the journal may be apart, in milliseconds. */
const CLOCKS_APART_MS = 10_000;

/**
 * Answered by the owner, in the deployment's lane: what is decided after this item has a later time, so that no entry can come
 * any more that belongs before one that has passed. @throws NotOwner
 */
export async function headBefore(
  context: Pick<RuntimeContext, 'db' | 'clock' | 'directory' | 'growTree' | 'lanes' | 'reading'>,
  { deployment: address, from, before }: RequestOf<HeadBefore>,
  call: CallContext,
): Promise<ReplyOf<HeadBefore>> {
  const { db, directory, lanes } = context;
  const deployment = await directory.byAddress(address);
  if (deployment === undefined) throw new ServiceError('deployment_not_found');
  const { id } = deployment;
  const { seq, isOver } = await lanes.submit(lastItem(id, before, call));
  // Where the journal lost the entry, whoever asks learns that from the journal.
  if (!isOver || seq < from) return { head: null };
  const size = await lastEntryBefore(db, id, { from, to: seq, before });
  const end = await endOf(db, id, size);
  return inTree({ ...context, until: size }, deployment, call, async ({ rootsOver }) => {
    const [root] = await rootsOver([{ start: 0, end: size }]);
    if (root === undefined || end === undefined) throw new ServiceError('history_broken');
    const { hash: entryHash, generation } = end;
    return { head: { generation, size, rootHash: root.toString('hex'), entryHash } };
  });
}

/** The last entry of the journal, and whether all that come after it have a time after `before`. */
const lastItem = (
  deploymentId: number,
  before: string,
  { deadline, signal }: CallContext,
): WorkItem<{ seq: number; isOver: boolean }> => ({
  deploymentId,
  deadline,
  signal,
  prepare: () => undefined,
  decide: ({ head: { seq, executedAt } }, _ids, now) => {
    const isOver = executedAt >= before || now >= Date.parse(before) + CLOCKS_APART_MS;
    return { kind: 'answer', answer: { seq, isOver } };
  },
});
