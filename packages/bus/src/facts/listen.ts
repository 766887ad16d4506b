import { type Message, type PayloadOf, parseOrRefuse } from '@orrery/contracts';
import { type Logger, withinTrace } from '@orrery/service-kit';
import { decodeUntrusted } from '../body.js';
import { broadcastSubject } from '../subjects.js';
import type { Exchange } from '../transport.js';

/** A broadcast that cannot be read, or whose handling fails, is logged and forgotten. */
export const createListen =
  (exchange: Exchange, logger: Logger) =>
  async <M extends Message>(message: M, handle: (payload: PayloadOf<M>) => void, signal: AbortSignal) => {
    if (signal.aborted) return;
    await exchange.listen(
      broadcastSubject(message),
      ({ headers, body }) => {
        try {
          const payload = parseOrRefuse(message.payload, decodeUntrusted(body)) as PayloadOf<M>;
          withinTrace(headers, () => handle(payload));
        } catch (error) {
          logger.warn({ err: error, message: message.name }, 'a broadcast was not handled');
        }
      },
      signal,
    );
  };
