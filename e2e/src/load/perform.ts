import { systemClock } from '@orrery/service-kit';
import { judge, mayChange } from './judge.js';
import type { Operation, Try } from './operation.js';
import type { Asked, Reply } from './send.js';

/** Sends a request once, and never again. */
interface Client {
  ask(asked: Asked): Promise<Reply>;
}

export interface Persistence {
  /** Whether it is worth repeating after this reply. Default: where the same request may be answered otherwise. */
  readonly again?: (reply: Reply) => boolean;
  /** How long a client repeats its request, and how long it waits in between, in milliseconds. */
  readonly forMs?: number;
  readonly pauseMs?: number;
}

/** Characters of an error that are kept. */
const MAX_DETAIL = 500;

/** Sends a request once, and notes what the client knows then. */
export async function performOnce(client: Client, operation: Operation, asked: Asked): Promise<Reply> {
  const at = Date.now();
  const reply = await client.ask(asked);
  const said = judge(reply);
  const outcome = said === 'running' ? 'unknown' : said;
  operation.tries.push({ at, ms: Date.now() - at, ...factsOf(reply), outcome });
  const wasUnknown = operation.tries.some((one) => one.outcome === 'unknown');
  // What a repetition is refused says nothing of the request before it, unless that is decided for good.
  operation.outcome = outcome === 'fail' && wasUnknown && mayChange(reply) ? 'unknown' : outcome;
  if (outcome === 'ok' && 'answer' in reply) {
    const { historyId, seq } = reply.answer.body?.data ?? {};
    if (historyId !== undefined) Object.assign(operation, { historyId, seq });
  }
  return reply;
}

function factsOf(reply: Reply): Pick<Try, 'status' | 'code' | 'detail' | 'requestId'> {
  if ('broken' in reply) return { status: 0, code: reply.broken, detail: reply.cause.message, requestId: '' };
  const { status, headers, body } = reply.answer;
  const detail = status < 300 ? '' : JSON.stringify(body).slice(0, MAX_DETAIL);
  return { status, code: String(body?.code ?? ''), detail, requestId: headers.get('x-request-id') ?? '' };
}

/** Repeats a request that takes effect once, until its outcome is decided or the client gives up. */
export async function performSurely(
  client: Client,
  operation: Operation,
  asked: Asked,
  { again = mayChange, forMs = 40_000, pauseMs = 200 }: Persistence = {},
): Promise<Reply> {
  const until = performance.now() + forMs;
  for (;;) {
    const reply = await performOnce(client, operation, asked);
    if (operation.outcome === 'ok' || !again(reply) || performance.now() > until) return reply;
    await systemClock.sleep(pauseMs);
  }
}
