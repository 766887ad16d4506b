import type { MessagePort } from 'node:worker_threads';
import type { Logger } from '@orrery/service-kit';
import {
  awaitAnswer,
  CLOSE_GRACE_MS,
  goneError,
  isLate,
  noResponders,
  RunningCalls,
  within,
} from '../in-flight/in-flight.js';
import type { Answer, Exchange, Frame, RequestOptions, Transport } from '../ports/transport.js';
import { lendTransport } from '../thread/thread-transport.js';
import { createMessageLog, type LogDependencies, type MessageLog } from './message-log.js';

/** What the services of one process share as their bus when there is no NATS. */
export interface InProcessHub {
  readonly router: Router;
  readonly log: MessageLog;
}

export const createInProcessHub = (dependencies: LogDependencies): InProcessHub => ({
  router: createRouter(),
  log: createMessageLog(dependencies),
});

/** One service's transport on a shared hub. */
export function joinHub({ router, log }: InProcessHub): Transport {
  const exchange = routerExchange(router);
  const stops: (() => Promise<void>)[] = [];
  return {
    exchange,
    facts: {
      append: log.append,
      read: async (subject, options) => {
        stops.push(log.read(subject, options));
      },
    },
    health: () => ({ ok: true }),
    close: async () => {
      exchange.stop();
      await within(
        CLOSE_GRACE_MS,
        Promise.all([exchange.running.untilIdle(), ...stops.map((stop) => stop())]),
      );
      exchange.running.abortAll();
    },
  };
}

/** Gives a service in another thread its bus on the hub: that thread connects with the channel's other port. */
export const lendHub = (hub: InProcessHub, port: MessagePort, logger: Logger): void =>
  lendTransport(joinHub(hub), port, logger);

/** One service that answers a subject; `running` holds the calls that it is answering. */
interface Responder {
  readonly answer: Answer;
  readonly running: RunningCalls;
}

/** The responders of one subject. */
interface Group {
  responders: readonly Responder[];
  next: number;
}

/** Routes requests and broadcasts by subject among the services of one process. */
export type Router = ReturnType<typeof createRouter>;

/** The responders of a subject take turns (round robin). Delivery takes one microtask. */
export function createRouter() {
  const groups = new Map<string, Group>();
  const listeners = new Map<string, Set<(frame: Frame) => void>>();
  let count = 0;
  return {
    request: (subject: string, frame: Frame, options: RequestOptions): Promise<Frame> => {
      const group = groups.get(subject);
      const responder = group?.responders[group.next++ % group.responders.length];
      if (responder === undefined) return Promise.reject(noResponders());
      count += 1;
      return requestFrom(responder, String(count), frame, options);
    },
    /** @returns how to unregister. */
    respond: (subject: string, responder: Responder): (() => void) => {
      const group = groups.get(subject) ?? { responders: [], next: 0 };
      groups.set(subject, group);
      group.responders = [...group.responders, responder];
      return () => {
        group.responders = group.responders.filter((other) => other !== responder);
      };
    },
    /** @returns how to unregister. */
    listen: (subject: string, receive: (frame: Frame) => void): (() => void) => {
      const receivers = listeners.get(subject) ?? new Set();
      listeners.set(subject, receivers.add(receive));
      return () => void receivers.delete(receive);
    },
    broadcast: (subject: string, frame: Frame): void => {
      for (const receive of listeners.get(subject) ?? []) queueMicrotask(() => receive(frame));
    },
  };
}

function requestFrom(
  { answer, running }: Responder,
  id: string,
  frame: Frame,
  options: RequestOptions,
): Promise<Frame> {
  let call: AbortController | undefined;
  return awaitAnswer<Frame>(
    options,
    ({ resolve }) => {
      const started = running.start(id);
      call = started;
      queueMicrotask(() => {
        void answer(frame, started).then((reply) => {
          running.end(id);
          resolve(reply);
        });
      });
    },
    (reason) => call?.abort(isLate(reason) ? reason : goneError()),
  );
}

/** One service's access to the router. */
export function routerExchange(router: Router) {
  const running = new RunningCalls();
  const registrations = new Set<() => void>();
  const exchange: Exchange = {
    request: router.request,
    respond: async (_group, answers) => {
      for (const [subject, answer] of answers)
        registrations.add(router.respond(subject, { answer, running }));
    },
    broadcast: async (subject, frame) => router.broadcast(subject, frame),
    listen: async (subject, receive, signal) => {
      const end = router.listen(subject, receive);
      registrations.add(end);
      const endNow = () => {
        end();
        registrations.delete(end);
      };
      signal.addEventListener('abort', endNow, { once: true });
    },
  };
  /** Accepts no more requests. */
  const stop = () => {
    for (const end of registrations) end();
  };
  return { ...exchange, running, stop };
}
