import { ServiceError } from '@orrery/contracts';
import { type Clock, FairSlots } from '@orrery/service-kit';
import type { Model } from '../../core/prompting/model.js';

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
  readonly #ofModels = new Map<string, FairSlots>();
  readonly #ofDeployments = new Map<string, FairSlots>();
  /** By account and model. */
  readonly #waiting = new Map<string, Set<SlotCall>>();

  /** `perDeployment`: calls of one deployment at once; `Infinity` for no bound. */
  constructor(private readonly perDeployment: number) {}

  /**
   * Runs a call when neither its deployment nor its model has too many under way; deployments get a model's slots in
   * turn. Rejects with the signal's reason when it aborts before the call has begun. @throws `too_many_waiting`
   */
  async run<T>(asking: SlotCall, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    const { model, deployment, isHolding } = asking;
    const own = this.#ofDeployments.get(deployment) ?? new FairSlots(this.perDeployment);
    const slots = this.#slotsOf(model);
    if (own.isFull || slots.isFull) this.#wait(asking);
    this.#ofDeployments.set(deployment, own);
    const begin = () => {
      this.#endWait(asking);
      return call();
    };
    const turn = { who: deployment, isFirst: isHolding };
    try {
      // Free slots are taken in this turn of the event loop, so that no other call finds them free.
      return await own.run(turn, signal, () => slots.run(turn, signal, begin));
    } finally {
      this.#endWait(asking);
      if (own.isIdle) this.#ofDeployments.delete(deployment);
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

  #slotsOf({ record, maxConcurrency = Number.POSITIVE_INFINITY }: Model): FairSlots {
    // A list that was read again may bound the same model otherwise.
    const key = `${maxConcurrency} ${record.modelId}`;
    const slots = this.#ofModels.get(key) ?? new FairSlots(maxConcurrency);
    this.#ofModels.set(key, slots);
    return slots;
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

/**
 * How a call ended that passed a circuit breaker: the server answered, be it with a refusal; or it could not be reached,
 * failed or took too long; or the call was given up, which says nothing of the server.
 */
export type Passed = 'answered' | 'failed' | 'cancelled';

/** Failures in a row that open the circuit. */
export const FAILURES_TO_OPEN = 5;
/** Failures within so many milliseconds count as one: one fault of a server ends many calls at once. */
export const FAILURE_INTERVAL_MS = 1000;
/** How long an open circuit lets no call pass, in milliseconds. */
export const OPEN_MS = 15_000;

/**
 * Keeps calls from a server that fails:
 *
 *   closed     all calls pass; 5 failures in a row, each at least 1 s after the one before → open
 *   open       no call passes for 15 s, then → half-open
 *   half-open  one call passes, the others wait as if it were open: it is answered → closed; it fails → open
 *
 * A failure that comes while it is open, of a call that passed before, says nothing new.
 */
export class CircuitBreaker {
  #failures = 0;
  #countedAt = Number.NEGATIVE_INFINITY;
  #openUntil = 0;
  #isProbing = false;

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  /** Lets a call pass, which is to say how it ended; or answers in how many milliseconds one may pass again. */
  enter(): ((passed: Passed) => void) | { readonly openForMs: number } {
    if (!this.#isOpen) return (passed) => this.#ended(passed);
    const openForMs = this.#openUntil - this.clock.monotonic();
    if (openForMs > 0 || this.#isProbing) return { openForMs: Math.max(openForMs, 1) };
    this.#isProbing = true;
    return (passed) => {
      this.#isProbing = false;
      if (passed === 'failed') this.#open();
      else this.#ended(passed);
    };
  }

  get #isOpen(): boolean {
    return this.#failures >= FAILURES_TO_OPEN;
  }

  #open(): void {
    this.#openUntil = this.clock.monotonic() + OPEN_MS;
  }

  #ended(passed: Passed): void {
    if (passed === 'answered') {
      this.#failures = 0;
      this.#countedAt = Number.NEGATIVE_INFINITY;
      this.#isProbing = false;
    }
    const now = this.clock.monotonic();
    if (passed !== 'failed' || this.#isOpen || now - this.#countedAt < FAILURE_INTERVAL_MS) return;
    this.#countedAt = now;
    this.#failures += 1;
    if (this.#isOpen) this.#open();
  }
}
