import { systemClock } from '@orrery/service-kit';
import type { Asked, ChaosClient, Reply } from './chaos-client.js';
import { judge, mayChange } from './judge.js';
import type { Operation } from './operation.js';

/** How long a client that may repeat its request does so, in milliseconds. */
const PERSISTENCE_MS = 40_000;
const PAUSE_MS = 200;

/** Sends a request once, and notes what the client knows then. */
export async function performOnce(client: ChaosClient, operation: Operation, asked: Asked): Promise<Reply> {
  const at = Date.now();
  const reply = await client.ask(asked);
  const said = judge(reply);
  const outcome = said === 'running' ? 'unknown' : said;
  const known =
    'answer' in reply
      ? {
          status: reply.answer.status,
          code: String(reply.answer.body?.code ?? ''),
          requestId: reply.answer.headers.get('x-request-id') ?? '',
        }
      : { status: 0, code: reply.broken, requestId: '' };
  operation.attempts.push({ at, ms: Date.now() - at, ...known, outcome });
  const wasUnknown = operation.attempts.some((one) => one.outcome === 'unknown');
  // What a repetition is refused says nothing of the request before it, unless that is decided for good.
  operation.outcome = outcome === 'fail' && wasUnknown && mayChange(reply) ? 'unknown' : outcome;
  if (outcome === 'ok' && 'answer' in reply) {
    const { historyId, seq } = reply.answer.body?.data ?? {};
    if (historyId !== undefined) Object.assign(operation, { historyId, seq });
  }
  return reply;
}

/**
 * Repeats a request that takes effect once, until its outcome is decided or the client gives up.
 * @param again whether it is worth repeating after this reply
 */
export async function performSurely(
  client: ChaosClient,
  operation: Operation,
  asked: Asked,
  again: (reply: Reply) => boolean = mayChange,
): Promise<Reply> {
  const until = performance.now() + PERSISTENCE_MS;
  for (;;) {
    const reply = await performOnce(client, operation, asked);
    if (operation.outcome === 'ok' || !again(reply)) return reply;
    if (performance.now() > until) return reply;
    await systemClock.sleep(PAUSE_MS);
  }
}
