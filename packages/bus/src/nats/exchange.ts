import type { Msg, Subscription } from '@nats-io/transport-node';
import type { Logger } from '@orrery/service-kit';
import { createRunningCalls, type RunningCalls } from '../calls/running-calls.js';
import { cancelSubject } from '../subjects.js';
import type { Answer, Exchange } from '../transport.js';
import type { Connection } from './connection.js';
import type { Inbox } from './inbox.js';
import { fromMessageHeaders } from './message-headers.js';
import type { Parts } from './parts.js';

export interface NatsExchange extends Exchange {
  readonly running: RunningCalls;
  /** Takes no more requests; those that the client has received already are answered. */
  stop(): Promise<void>;
}

/** How long the parts of a large request may take, in milliseconds each. */
const PART_TIMEOUT_MS = 10_000;

export function createNatsExchange(
  connection: Connection,
  inbox: Inbox,
  parts: Parts,
  logger: Logger,
): NatsExchange {
  const { nats } = connection;
  const running = createRunningCalls();
  const served: Subscription[] = [];
  const cancellable = new Set<string>();

  const answerOne = async (message: Msg, answer: Answer) => {
    const id = message.reply ?? '';
    const call = running.start(id);
    try {
      const request = await parts.unpack(message, PART_TIMEOUT_MS, call);
      using parcel = parts.pack(await answer(request, call));
      message.respond(parcel.data, parcel.headers && { headers: parcel.headers });
      await parcel.taken;
    } catch (error) {
      logger.warn({ err: error, subject: message.subject }, 'a request could not be answered');
    } finally {
      running.end(id);
    }
  };

  const hearCancellations = (group: string) => {
    if (cancellable.has(group)) return;
    cancellable.add(group);
    nats.subscribe(cancelSubject(group), {
      callback: (error, message) => {
        if (error === null) running.cancel(message.string());
      },
    });
  };

  return {
    running,
    request: async (subject, frame, { group, timeoutMs, signal }) => {
      using parcel = parts.pack(frame);
      const giveUp = (address: string) => {
        if (connection.up) nats.publish(cancelSubject(group), address);
      };
      const askedAt = performance.now();
      const reply = await inbox.ask(subject, { ...parcel, giveUp }, { timeoutMs, signal });
      return parts.unpack(reply, timeoutMs - (performance.now() - askedAt), signal);
    },
    respond: async (queue, answers) => {
      hearCancellations(queue);
      for (const [subject, answer] of answers) {
        const callback = (error: Error | null, message: Msg) => {
          if (error === null) void answerOne(message, answer);
        };
        served.push(nats.subscribe(subject, { queue, callback }));
      }
      await nats.flush();
    },
    broadcast: async (subject, frame) => {
      connection.requireUp();
      using parcel = parts.pack(frame);
      nats.publish(subject, parcel.data, parcel.headers && { headers: parcel.headers });
    },
    listen: async (subject, receive, signal) => {
      const subscription = nats.subscribe(subject, {
        callback: (error, message) => {
          if (error === null)
            receive({ headers: fromMessageHeaders(message.headers), body: message.string() });
        },
      });
      signal.addEventListener('abort', () => subscription.unsubscribe(), { once: true });
      await nats.flush();
    },
    stop: async () => {
      if (connection.up) await Promise.all(served.map((subscription) => subscription.drain()));
    },
  };
}
