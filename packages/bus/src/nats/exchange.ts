import type { Subscription } from '@nats-io/transport-node';
import type { Logger } from '@orrery/service-kit';
import { RunningCalls } from '../in-flight/in-flight.js';
import type { Exchange } from '../ports/transport.js';
import { cancelSubject } from '../wire/wire-format.js';
import { createAnswers } from './answers.js';
import type { Connection } from './connection.js';
import { fromMessageHeaders } from './headers.js';
import type { Inbox } from './inbox.js';
import { Heartbeats, LiveInstances } from './live-instances.js';
import type { Parts } from './parts.js';
import { createRequests } from './requests.js';

export function createNatsExchange(connection: Connection, inbox: Inbox, parts: Parts, logger: Logger) {
  const { nats } = connection;
  const running = new RunningCalls();
  const live = new LiveInstances(connection);
  const heartbeats = new Heartbeats(connection);
  const requests = createRequests(connection, inbox, parts, live);
  const answers = createAnswers(connection, parts, running, logger);
  const served: Subscription[] = [];
  const cancellable = new Set<string>();

  const subscribeToCancellations = (group: string) => {
    if (cancellable.has(group)) return;
    cancellable.add(group);
    connection.subscribe(connection.named(cancelSubject(group)), (message) =>
      running.cancel(message.string()),
    );
  };

  const exchange: Exchange = {
    request: requests.request,
    respond: async (queue, answerOf, serving) => {
      subscribeToCancellations(queue);
      for (const [subject, answer] of answerOf)
        served.push(
          connection.subscribe(
            connection.named(subject),
            (message) => answers.answer(message, answer),
            queue,
          ),
        );
      await nats.flush();
      heartbeats.announce(queue, serving);
    },
    broadcast: async (subject, frame) => {
      connection.requireUp();
      using outgoing = parts.pack(frame);
      nats.publish(
        connection.named(subject),
        outgoing.data,
        outgoing.headers && { headers: outgoing.headers },
      );
    },
    listen: async (subject, receive, signal) => {
      const subscription = connection.subscribe(connection.named(subject), (message) =>
        receive({ headers: fromMessageHeaders(message.headers), body: message.string() }),
      );
      signal.addEventListener('abort', () => subscription.unsubscribe(), { once: true });
      await nats.flush();
    },
  };
  return {
    ...exchange,
    running,
    /** Accepts no more requests; those that the client has received already are answered. */
    stop: async () => {
      heartbeats.leave();
      if (connection.up) await Promise.all(served.map((subscription) => subscription.drain()));
    },
    /** Sends what is still collected for the end of this turn. */
    flush: () => {
      requests.flush();
      answers.flush();
    },
    /** This process is heard no more. */
    end: () => {
      live.stop();
      heartbeats.stop();
    },
  };
}
