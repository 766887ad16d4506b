import { ServiceError } from '@orrery/contracts';
import { createSemaphore, type Semaphore } from '@orrery/service-kit';
import type { Model } from '../models/model.js';
import { createFairSlots, type FairSlots } from './fair-slots.js';

/** A call of a model that asks for its slots. */
export interface SlotCall {
  readonly model: Model;
  /** The address of its deployment. */
  readonly deployment: string;
  readonly accountId: number;
  /** It goes before those that hold nothing: others wait for its execution. */
  readonly isHolding: boolean;
  /** Its execution has called the model before, so it is not refused where too many wait. */
  readonly isRepeated: boolean;
}

/** Bounds the calls of models that this process has under way, and those that wait. */
export interface CallSlots {
  /**
   * Runs a call when neither its deployment nor its model has too many under way; deployments get a model's slots in
   * turn. Rejects with the signal's reason when it aborts before the call has begun. @throws `too_many_waiting`
   */
  run<T>(asking: SlotCall, signal: AbortSignal, call: () => Promise<T>): Promise<T>;
  /** @throws `too_many_waiting` when no other call of the account may wait for the model */
  refuseCrowd(accountId: number, modelId: string): void;
}

/** Executions of one account that may wait for one model in one process. */
export const MAX_WAITING = 100;
/** After how long a caller tries again, in seconds. */
const RETRY_SECONDS = 5;

/** `perDeployment`: calls of one deployment at once; `Infinity` for no bound. */
export function createCallSlots(perDeployment: number): CallSlots {
  const ofModels = new Map<string, FairSlots>();
  const ofDeployments = new Map<string, Semaphore>();
  const waiting = new Map<string, number>();
  const slotsOf = ({ record, maxConcurrency }: Model) => {
    // A list that was read again may bound the same model otherwise.
    const key = `${maxConcurrency} ${record.modelId}`;
    const slots = ofModels.get(key) ?? createFairSlots(maxConcurrency ?? Number.POSITIVE_INFINITY);
    ofModels.set(key, slots);
    return slots;
  };
  const nameOf = (accountId: number, modelId: string) => `${accountId} ${modelId}`;
  const refuseCrowd = (accountId: number, modelId: string) => {
    if ((waiting.get(nameOf(accountId, modelId)) ?? 0) >= MAX_WAITING) throw tooManyWaiting(modelId);
  };
  /** Counts one that waits until the returned function is called. */
  const wait = ({ accountId, model: { record }, isHolding, isRepeated }: SlotCall) => {
    const name = nameOf(accountId, record.modelId);
    if (!isHolding && !isRepeated) refuseCrowd(accountId, record.modelId);
    waiting.set(name, (waiting.get(name) ?? 0) + 1);
    let isWaiting = true;
    return () => {
      const left = (waiting.get(name) ?? 0) - (isWaiting ? 1 : 0);
      isWaiting = false;
      if (left > 0) waiting.set(name, left);
      else waiting.delete(name);
    };
  };
  return {
    refuseCrowd,
    run: async (asking, signal, call) => {
      const { model, deployment, isHolding } = asking;
      const own = ofDeployments.get(deployment) ?? createSemaphore(perDeployment);
      const slots = slotsOf(model);
      const isFree = !own.isFull && !slots.isFull;
      const endWait = isFree ? () => undefined : wait(asking);
      ofDeployments.set(deployment, own);
      const begin = () => {
        endWait();
        return call();
      };
      const inSlot = () => slots.run({ who: deployment, isFirst: isHolding }, signal, begin);
      try {
        // Free slots are taken in this turn of the event loop, so that no other call finds them free.
        return await (isFree ? inTaken(own, inSlot) : own.run(signal, inSlot));
      } finally {
        endWait();
        if (own.taken === 0) ofDeployments.delete(deployment);
      }
    },
  };
}

async function inTaken<T>(slots: Semaphore, work: () => Promise<T>): Promise<T> {
  slots.take();
  try {
    return await work();
  } finally {
    slots.release();
  }
}

const tooManyWaiting = (modelId: string): ServiceError =>
  new ServiceError(
    'too_many_waiting',
    `${MAX_WAITING} executions of this account wait for the AI model "${modelId}" already. Execute again when some of them have ended.`,
    { facts: { modelId, limit: MAX_WAITING, retryAfterSeconds: RETRY_SECONDS } },
  );
