import { systemClock } from '@orrery/service-kit';
import type { ApiAnswer, ApiClient } from '../api-client.js';

/** Answers that say nothing about whether the execution happened, or that it did not and may be asked for again. */
const UNDECIDED = new Set([
  'unavailable',
  'deadline_exceeded',
  'overloaded',
  'storage_full',
  'request_in_flight',
  'internal',
]);

/** Why an execution had to be asked for again. */
export interface Interruption {
  /** An error's code, or that the connection was lost. */
  readonly code: string;
  readonly detail: string;
}

/**
 * Executes with an `Idempotency-Key` and repeats until there is an answer that decides, as a careful client does
 * through crashes. Answers, too, why it had to ask again. Gives up when the signal aborts.
 */
export async function executeSurely(
  api: ApiClient,
  deployment: string,
  body: object,
  key: string,
  signal: AbortSignal,
): Promise<ApiAnswer & { interruptions: Interruption[] }> {
  for (const interruptions: Interruption[] = []; ; ) {
    const answer = await api
      .post(`${deployment}/execute`, body, { 'idempotency-key': key })
      .catch((error: Error) => error);
    if (answer instanceof Error) interruptions.push({ code: 'connection lost', detail: answer.message });
    else if (!UNDECIDED.has(answer.body?.code)) return { ...answer, interruptions };
    else interruptions.push({ code: answer.body.code, detail: JSON.stringify(answer.body) });
    signal.throwIfAborted();
    await systemClock.sleep(20, signal);
  }
}
