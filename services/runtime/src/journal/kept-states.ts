import type { InstanceChange } from '@orrery/contracts';

/** An instance's full state is kept every so many revisions (decisions §4 "History"). */
export const KEPT_EVERY = 100;

/**
 * Whether the state after a change is kept, so that the past of an instance is never more than `KEPT_EVERY` changes
 * away from a kept state. Deletions are kept too: revisions start anew after them.
 */
export const isKept = ({ op, revision }: InstanceChange): boolean =>
  op === 'delete' || revision % KEPT_EVERY === 0;
