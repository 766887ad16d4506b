import { ServiceError } from '@orrery/contracts';
import type { Model } from '../../core/prompting/model.js';
import { type Bound, JointSlots } from './joint-slots.js';

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

/** Executions of one account that may wait for one model in one process. */
export const MAX_WAITING = 100;
const RETRY_SECONDS = 5;

/** Bounds the calls of models that this process has under way, and those that wait. */
export class CallSlots {
  readonly #slots = new JointSlots();
  /** By account and model. */
  readonly #waiting = new Map<string, Set<SlotCall>>();

  /** `perDeployment`: calls of one deployment at once; `Infinity` for no bound. */
  constructor(private readonly perDeployment: number) {}

  /**
   * Runs a call when neither its deployment nor its model has too many under way; deployments get a model's slots in
   * turn. Rejects with the signal's reason when it aborts before the call has begun. @throws `too_many_waiting`
   */
  async run<T>(asking: SlotCall, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    const bounds = this.#boundsOf(asking);
    if (!this.#slots.isFree(bounds)) this.#wait(asking);
    const begin = () => {
      this.#endWait(asking);
      return call();
    };
    try {
      return await this.#slots.run({ bounds, isFirst: asking.isHolding }, signal, begin);
    } finally {
      this.#endWait(asking);
    }
  }

  /** @throws `too_many_waiting` when no other call of the account may wait for the model */
  refuseCrowd(accountId: number, modelId: string): void {
    if ((this.#waiting.get(`${accountId} ${modelId}`)?.size ?? 0) < MAX_WAITING) return;
    throw new ServiceError(
      'too_many_waiting',
      `${MAX_WAITING} executions of this account wait for the AI model "${modelId}" already. Execute again when some of them have ended.`,
      { facts: { modelId, limit: MAX_WAITING, retryAfterSeconds: RETRY_SECONDS } },
    );
  }

  #boundsOf({ deployment, model: { record, maxConcurrency = Number.POSITIVE_INFINITY } }: SlotCall): Bound[] {
    return [
      { name: `deployment ${deployment}`, most: this.perDeployment },
      // A list that was read again may bound the same model otherwise.
      { name: `model ${maxConcurrency} ${record.modelId}`, most: maxConcurrency },
    ];
  }

  #wait(asking: SlotCall): void {
    const { accountId, isHolding, isRepeated } = asking;
    const { modelId } = asking.model.record;
    if (!isHolding && !isRepeated) this.refuseCrowd(accountId, modelId);
    const name = `${accountId} ${modelId}`;
    this.#waiting.set(name, (this.#waiting.get(name) ?? new Set()).add(asking));
  }

  #endWait(asking: SlotCall): void {
    const name = `${asking.accountId} ${asking.model.record.modelId}`;
    const waiting = this.#waiting.get(name);
    waiting?.delete(asking);
    if (waiting?.size === 0) this.#waiting.delete(name);
  }
}
