import { ServiceError } from '@orrery/contracts';
import { createSemaphore, type Semaphore } from '@orrery/service-kit';
import type { Model } from '../../core/models/model.js';

interface FairSlots {
  readonly isFull: boolean;
  /**
   * Runs the work in a slot. Work that is to be first gets the next slots in the order in which it came. The others get
   * slots in turn, one piece of work each, in the order in which they came. Rejects with the signal's reason when it
   * aborts before the work has begun.
   */
  run<T>(asking: Asking, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

interface Asking {
  readonly who: string;
  readonly isFirst: boolean;
}

type Waiting = () => void;

/** A queue for each who waits; whose turn is next is first in the map. */
type Queues = Map<string, Waiting[]>;

export function createFairSlots(slots: number): FairSlots {
  let taken = 0;
  const first: Queues = new Map();
  const others: Queues = new Map();
  const acquire = ({ who, isFirst }: Asking, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      signal.throwIfAborted();
      if (taken < slots) {
        taken += 1;
        return resolve();
      }
      const [queues, name] = isFirst ? [first, ''] : [others, who];
      const start = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        withdraw(queues, name, start);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      const queue = queues.get(name);
      if (queue === undefined) queues.set(name, [start]);
      else queue.push(start);
    });
  // A released slot goes straight to the next one who waits.
  const release = () => {
    const next = nextOf(first) ?? nextOf(others);
    if (next === undefined) taken -= 1;
    else next();
  };
  return {
    get isFull() {
      return taken >= slots;
    },
    run: async (asking, signal, work) => {
      await acquire(asking, signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}

/** The next one to start. Who still waits for more goes to the end of the line. */
function nextOf(queues: Queues): Waiting | undefined {
  for (const [who, queue] of queues) {
    queues.delete(who);
    const next = queue.shift();
    if (queue.length > 0) queues.set(who, queue);
    return next;
  }
  return undefined;
}

function withdraw(queues: Queues, who: string, start: Waiting): void {
  const left = (queues.get(who) ?? []).filter((other) => other !== start);
  if (left.length > 0) queues.set(who, left);
  else queues.delete(who);
}

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
