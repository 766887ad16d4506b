import {
  findUnsafeJson,
  isJsonObject,
  type JsonObject,
  ServiceError,
  type VersionDefinition,
  type WorldTexts,
} from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import { type Evidence, evidenceOf } from './evidence.js';
import type { Model } from './model.js';

/** Everything that a decision may depend on, as the execution read it, and what a decider asks of the runtime. */
export interface DeciderRequest {
  readonly executionId: string;
  readonly deployment: { readonly address: string; readonly worldAddress: string };
  /** Of the deployment's owner. */
  readonly accountId: number;
  /** Its `schemas` are those that the version names, with their attributes. */
  readonly definition: VersionDefinition;
  /** The texts of a locked deployment are those of its lock. */
  readonly world: WorldTexts;
  /** The locked or chosen model, or the default. */
  readonly model: Model;
  readonly input: JsonObject;
  /** Schema → instanceId → state, with defaults. */
  readonly entities: JsonObject;
  /** In milliseconds, by the monotonic clock; a later answer is not used. */
  readonly deadline: number;
  /** The execution holds what it has read: others wait for it. */
  readonly isHolding: boolean;
  readonly check: CheckProposal;
  readonly budget: Budget;
}

/**
 * Why this mutation (in its plain form) would be refused if it were committed now; `undefined` for one that would be
 * accepted, and where that cannot be told, for instance because the data read have changed meanwhile. Nothing is
 * committed.
 */
export type CheckProposal = (mutation: JsonObject) => Promise<string | undefined>;

/** Tokens and price of one request to a model's server; `usd` is null for a model without prices. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd: number | null;
}

/** The budgets that the calls of one execution are paid from. */
export interface Budget {
  /**
   * Sets aside what one request may cost at most. Each reservation is settled, whatever becomes of the request. A database
   * that is slow or away is waited for until the signal aborts.
   * @throws `budget_exhausted` when a budget of today (UTC) does not cover it, `ai_model_unpriced`, or the signal's reason
   */
  reserve(most: ModelUsage, signal: AbortSignal): Promise<Reservation>;
}

export interface Reservation {
  /** Counts what the request cost, and releases the rest. Resolves soon, also while the database is away. */
  settle(actual: ModelUsage): Promise<void>;
}

/** A mutation in its plain form, with what the entry records of the model. It is stored before it is applied. */
export interface DeciderAnswer extends Partial<Evidence> {
  readonly mutation: JsonObject;
}

/**
 * Decides the executions of versions that have no template, for instance by a model. It is called outside any
 * transaction and lane. It is called again for the same run when the data read have changed, or when the deployment's
 * owner was lost before the answer was stored. What it throws fails the execution; a `DeciderFailed` also says what the
 * attempt has cost.
 */
export interface Decider {
  (request: DeciderRequest, signal: AbortSignal): Promise<DeciderAnswer>;
  /**
   * Refuses an execution before it is accepted, where too many of the account wait for the model. Left out: any number
   * may wait. @throws `too_many_waiting`
   */
  readonly refuseCrowd?: (accountId: number, modelId: string) => void;
}

/** The decider gave no usable answer: the execution fails with `cause`. */
export class DeciderFailed extends Error {
  override readonly name = 'DeciderFailed';
  readonly evidence: Evidence;

  constructor(cause: unknown, evidence: Partial<Evidence> = {}) {
    super('the decider gave no usable answer', { cause });
    this.evidence = evidenceOf(evidence);
  }
}

/** Calls the decider, at most until the request's deadline, even if it ignores its signal. @throws DeciderFailed */
export async function callDecider(
  decider: Decider,
  request: DeciderRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<DeciderAnswer> {
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  const late = clock.sleep(Math.max(0, request.deadline - clock.monotonic()), either).then(() => {
    throw new ServiceError('deadline_exceeded');
  });
  try {
    return usable(await Promise.race([decider(request, either), late]));
  } catch (error) {
    throw error instanceof DeciderFailed ? error : new DeciderFailed(error);
  } finally {
    done.abort();
    late.catch(() => undefined);
  }
}

/** The answer passes the guard of every entrance; its evidence is made storable, not refused. */
function usable({ mutation, ...evidence }: DeciderAnswer): DeciderAnswer {
  if (!isJsonObject(mutation)) throw invalid('The proposal is no JSON object.', evidence);
  const unsafe = findUnsafeJson(mutation);
  if (unsafe !== undefined) throw invalid(`${unsafe.pointer || 'proposal'}: ${unsafe.message}`, evidence);
  return { mutation, ...evidenceOf(evidence) };
}

const invalid = (detail: string, evidence: Partial<Evidence>) =>
  new DeciderFailed(new ServiceError('ai_output_invalid', detail), evidence);
