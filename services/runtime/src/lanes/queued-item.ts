import { asServiceError, type Cancellation, ServiceError } from '@orrery/contracts';
import { NotOwner } from '../ownership/not-owner.js';
import type { DeploymentState } from '../state/deployment-state.js';
import type { ItemNeeds, WorkItem } from '../state/work-item.js';

/** An item on its way through the lane, with who waits for it. */
export interface QueuedItem {
  readonly item: WorkItem<unknown>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** What the last decision asked for. */
  needs: ItemNeeds | undefined;
  /** The state that it was prepared for. */
  state: DeploymentState | undefined;
  /** After a batch with it has failed, it is committed by itself, so that it fails nobody else. */
  alone: boolean;
  /** How often it has been prepared. */
  rounds: number;
}

/** Rounds of prepare and decide after which something must be wrong. */
const MAX_ROUNDS = 50;

/** Why an item is not worth deciding any more: nobody waits, or it turns in circles. */
export function reasonToDrop({ item, rounds }: QueuedItem, now: number): ServiceError | undefined {
  if (item.signal.aborted) return abortReason(item.signal);
  if (now >= item.deadline) return new ServiceError('deadline_exceeded');
  if (rounds > MAX_ROUNDS) return new ServiceError('overloaded', 'The deployment changes too fast to decide');
  return undefined;
}

export const abortReason = ({ reason }: Cancellation): ServiceError =>
  reason instanceof ServiceError
    ? reason
    : new ServiceError('deadline_exceeded', undefined, { cause: reason });

/** What the one who waits is told: NotOwner goes to the router, anything unknown becomes `internal`. */
export const refusalOf = (error: unknown): unknown =>
  error instanceof NotOwner ? error : asServiceError(error);
