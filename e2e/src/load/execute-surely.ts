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
): Promise<ApiAnswer & { interruptions: string[] }> {
  for (const interruptions: string[] = []; ; ) {
    const answer = await api
      .post(`${deployment}/execute`, body, { 'idempotency-key': key })
      .catch(() => undefined);
    if (answer !== undefined && !UNDECIDED.has(answer.body?.code)) return { ...answer, interruptions };
    interruptions.push(answer === undefined ? 'connection lost' : answer.body.code);
    signal.throwIfAborted();
    await systemClock.sleep(20, signal);
  }
}
