import { type JsonObject, ServiceError, type VersionDefinition } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { Evidence } from './conclude.js';

/** Everything that a decision may depend on, as it was read. */
export interface DeciderRequest {
  readonly executionId: string;
  readonly deployment: { readonly address: string; readonly worldAddress: string };
  readonly definition: VersionDefinition;
  readonly input: JsonObject;
  /** Schema → instanceId → state, with defaults. */
  readonly entities: JsonObject;
  /** Milliseconds since the epoch; past it nobody waits for the answer. */
  readonly deadline: number;
}

/** A mutation in its plain form, with what the entry records of the model. It is stored before it is applied. */
export interface DeciderAnswer extends Partial<Evidence> {
  readonly mutation: JsonObject;
}

/**
 * Decides the executions of versions that have no template, for instance by a model. It is called outside any
 * transaction and lane. It is called again for the same run when what was read has changed, or when the deployment's
 * owner was lost before the answer was stored. What it throws fails the execution.
 */
export type Decider = (request: DeciderRequest, signal: AbortSignal) => Promise<DeciderAnswer>;

/** The decider gave no answer: the execution fails with `cause`. */
export class DeciderFailed extends Error {
  override readonly name = 'DeciderFailed';
}

/** Calls the decider, at most until the request's deadline, even if it ignores its signal. @throws DeciderFailed */
export async function callDecider(
  decider: Decider | undefined,
  request: DeciderRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<DeciderAnswer> {
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  const late = clock.sleep(Math.max(0, request.deadline - clock.now()), either).then(() => {
    throw new ServiceError('deadline_exceeded');
  });
  try {
    if (decider === undefined) throw new ServiceError('unavailable', 'No AI model can be reached.');
    return await Promise.race([decider(request, either), late]);
  } catch (error) {
    throw new DeciderFailed('the decider gave no answer', { cause: error });
  } finally {
    done.abort();
    late.catch(() => undefined);
  }
}
