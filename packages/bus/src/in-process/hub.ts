import type { MessagePort } from 'node:worker_threads';
import type { Logger } from '@orrery/service-kit';
import { CLOSE_GRACE_MS, within } from '../in-flight/closing.js';
import type { Transport } from '../ports/transport.js';
import { lendTransport } from '../thread/thread-transport.js';
import { type LogOptions, openLog, type StoredLog } from './log/open-log.js';
import { createRouter, type Router, routerExchange } from './router.js';

/** What the services of one process share as their bus when there is no NATS. Dispose it after their buses. */
export interface InProcessHub extends AsyncDisposable {
  readonly router: Router;
  readonly log: StoredLog;
}

/** @throws StartupError when the database cannot be used. */
export async function createInProcessHub(options: LogOptions): Promise<InProcessHub> {
  const log = await openLog(options);
  return { router: createRouter(), log, [Symbol.asyncDispose]: () => log[Symbol.asyncDispose]() };
}

/** One service's transport on a shared hub. */
export function joinHub({ router, log }: InProcessHub): Transport {
  const exchange = routerExchange(router);
  const stops: (() => Promise<void>)[] = [];
  return {
    exchange,
    facts: {
      append: log.append,
      read: async (subject, options) => {
        stops.push(await log.read(subject, options));
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
