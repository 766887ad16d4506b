import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { GatewayConfig } from '@orrery/gateway/config';
import { openThread, type RunningService, type ServiceContext } from '@orrery/service-kit';

/** What the gateway's thread needs to start. */
export interface GatewayGiven {
  readonly databaseUrl: string;
}

/** What it answers when it has started. */
export interface GatewayFacts {
  readonly url: string;
  readonly key: string;
  readonly hasConsole: boolean;
  /** Signs a browser on this machine in; undefined without a console, and where others can come. */
  readonly code: string | undefined;
}

export interface OpenGateway extends RunningService {
  readonly stopTimeoutMs: number;
  start(given: GatewayGiven): Promise<GatewayFacts>;
  /** The other end of its bus. */
  readonly port: MessagePort;
}

/** Starts a thread that loads the gateway's code. */
export function openGateway(
  context: ServiceContext,
  { shutdownDelayMs: stopDelayMs }: GatewayConfig,
): OpenGateway {
  const { port1: port, port2: bus } = new MessageChannel();
  const file = new URL('./gateway-thread.js', import.meta.url);
  const options = { name: 'gateway', service: 'orrery', file, ports: { bus }, stopDelayMs };
  const thread = openThread(options, context);
  return {
    port,
    stopTimeoutMs: thread.stopTimeoutMs,
    start: (given) => thread.start(given) as Promise<GatewayFacts>,
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  };
}
