import { WEBHOOK_LIMITS, type WebhookProblem } from '@orrery/contracts';

/** What an attempt to send came to. */
export interface Attempt {
  /** HTTP status; undefined where no answer came. */
  readonly status?: number | undefined;
  /** Why no answer came. */
  readonly problem?: WebhookProblem | undefined;
  /** Milliseconds that the answer asks to wait (`Retry-After`). */
  readonly retryAfterMs?: number | undefined;
  readonly durationMs: number;
}

export type AfterAttempt =
  | { readonly step: 'delivered' }
  | { readonly step: 'retry'; readonly delayMs: number; readonly problem: WebhookProblem }
  | { readonly step: 'disable'; readonly problem: WebhookProblem };

/** Pauses: 5 s, 20 s, 80 s, 5 min, 21 min, 85 min, 5.7 h, then 12 h. */
const PAUSE = { firstMs: 5000, factor: 4, mostMs: WEBHOOK_LIMITS.longestPauseSeconds * 1000 };
/** A webhook that has failed for so long is disabled. */
const PATIENCE_MS = WEBHOOK_LIMITS.disabledAfterSeconds * 1000;
const GONE = 410;

/**
 * What follows an attempt.
 * @param before failures in a row, and for how many milliseconds they have gone on
 * @param random from 0 to 1: pauses of many webhooks are spread
 */
export function afterAttempt(
  attempt: Attempt,
  before: { readonly failures: number; readonly failingMs: number },
  random: number,
): AfterAttempt {
  const problem = problemOf(attempt);
  if (problem === undefined) return { step: 'delivered' };
  if (attempt.status === GONE) return { step: 'disable', problem };
  if (before.failingMs >= PATIENCE_MS) return { step: 'disable', problem: givenUp(problem) };
  const whole = Math.min(PAUSE.mostMs, PAUSE.firstMs * PAUSE.factor ** Math.min(before.failures, 20));
  const pause = whole * (0.8 + random * 0.2);
  return {
    step: 'retry',
    problem,
    delayMs: Math.max(pause, Math.min(PAUSE.mostMs, attempt.retryAfterMs ?? 0)),
  };
}

/** Why an attempt has failed. Undefined: it has not. */
export function problemOf({ status, problem }: Attempt): WebhookProblem | undefined {
  if (status === undefined) return problem;
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400)
    return { code: 'redirected', detail: `It answered ${status}: redirects are not followed.` };
  if (status === GONE)
    return { code: 'gone', detail: 'It answered 410: nothing is to be sent there any more.' };
  return { code: 'http_status', detail: `It answered ${status}.` };
}

const givenUp = ({ code, detail }: WebhookProblem): WebhookProblem => ({
  code,
  detail: `Deliveries have failed for 5 days. The last attempt: ${detail}`,
});
