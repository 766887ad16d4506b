import { type Message, type PayloadOf, parseOrRefuse } from '@orrery/contracts';
import type { Logger } from '@orrery/service-kit';
import type { z } from 'zod';
import type { Exchange } from '../ports/transport.js';
import { broadcastSubject, decodeUntrusted, injectTrace, withinTrace } from '../wire/wire-format.js';
import { encodePayload } from './publish.js';

export const createBroadcast =
  (exchange: Exchange) =>
  async <M extends Message>(message: M, payload: z.input<M['payload']>): Promise<void> => {
    const body = encodePayload(message, payload);
    await exchange.broadcast(broadcastSubject(message), { headers: injectTrace({}), body });
  };

/** Receives broadcasts. One that cannot be read, or whose handling fails, is logged and dropped. */
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
