import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { x402Facilitator } from '@x402/core/facilitator';
import { extractDiscoveryInfo } from '@x402/extensions/bazaar';
import { listen } from '../servers/listen.js';

/**
 * What the facilitator does with requests to settle. `drops its reply`, `lies about refusal`: the payment was charged.
 * `lies about success`: it was not.
 */
export type Conduct =
  | 'honest'
  | 'unreachable'
  | 'slow'
  | 'answers 500'
  | 'drops its reply'
  | 'lies about success'
  | 'lies about refusal'
  | 'refuses without a reason';

export interface FacilitatorServer extends AsyncDisposable {
  readonly url: string;
  conduct: Conduct;
  /** Whether verification behaves as `conduct` says, too. */
  verifiesBadly: boolean;
  readonly calls: { verify: number; settle: number };
  /** What has been paid for with the extension `bazaar`, by its address: `GET /discovery/resources`. */
  readonly catalogue: Map<string, object>;
  /** Settlements that are asked for, before they take effect. */
  beforeSettling: () => Promise<void>;
}

/** How long a slow facilitator takes, in milliseconds. */
const SLOW_MS = 1500;
const NO_HASH = `0x${'0'.repeat(63)}1`;

interface Asked {
  readonly paymentPayload: never;
  readonly paymentRequirements: never;
}

/** Serves the library's own facilitator over HTTP on 127.0.0.1, as well or badly as a test wants. */
export async function startFacilitator(facilitator: x402Facilitator): Promise<FacilitatorServer> {
  const timers = new Set<NodeJS.Timeout>();
  const server = createServer((request, response) => {
    handle(request, response).catch((error: Error) => answer(response, 500, { error: error.message }));
  });
  const served: FacilitatorServer = {
    url: '',
    conduct: 'honest',
    verifiesBadly: false,
    calls: { verify: 0, settle: 0 },
    catalogue: new Map(),
    beforeSettling: async () => undefined,
    [Symbol.asyncDispose]: async () => {
      for (const timer of timers) clearTimeout(timer);
      await listening[Symbol.asyncDispose]();
    },
  };
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.startsWith('/discovery/resources') === true)
      return answer(response, 200, pageOf([...served.catalogue.values()]));
    if (request.url === '/supported') return answer(response, 200, facilitator.getSupported());
    const { paymentPayload, paymentRequirements } = (await json(request)) as Asked;
    if (request.url === '/verify') {
      served.calls.verify += 1;
      if (served.verifiesBadly && served.conduct === 'unreachable') return response.destroy();
      if (served.verifiesBadly) return answer(response, 500, { error: 'broken' });
      return answer(response, 200, await facilitator.verify(paymentPayload, paymentRequirements));
    }
    served.calls.settle += 1;
    await served.beforeSettling();
    const settle = async () => {
      const settled = await facilitator.settle(paymentPayload, paymentRequirements);
      if (settled.success) list(served.catalogue, paymentPayload, paymentRequirements);
      return settled;
    };
    await settleAs(served.conduct, settle, response, timers);
  };
  const listening = await listen(server);
  return Object.assign(served, { url: listening.url });
}

/** Lists what a settled payment was for, as the library reads it. */
function list(
  catalogue: FacilitatorServer['catalogue'],
  payload: Asked['paymentPayload'],
  requirements: Asked['paymentRequirements'],
): void {
  const found = extractDiscoveryInfo(payload, requirements);
  if (found === null) return;
  const { resourceUrl: resource, discoveryInfo, ...rest } = found;
  const { type } = discoveryInfo.input;
  const lastUpdated = new Date().toISOString();
  catalogue.set(resource, { ...rest, resource, type, accepts: [requirements], lastUpdated });
}

const pageOf = (items: readonly object[]) => ({
  x402Version: 2,
  items,
  pagination: { limit: items.length, offset: 0, total: items.length },
});

async function settleAs(
  conduct: Conduct,
  settle: () => Promise<{ network: string; payer?: string }>,
  response: ServerResponse,
  timers: Set<NodeJS.Timeout>,
): Promise<void> {
  switch (conduct) {
    case 'honest':
      return answer(response, 200, await settle());
    case 'unreachable':
      response.destroy();
      return;
    case 'slow': {
      const later = setTimeout(() => {
        timers.delete(later);
        settle().then(
          (settled) => answer(response, 200, settled),
          () => response.destroy(),
        );
      }, SLOW_MS);
      timers.add(later);
      return;
    }
    case 'answers 500':
      return answer(response, 500, { error: 'broken' });
    case 'drops its reply':
      await settle();
      response.destroy();
      return;
    case 'lies about success':
      return answer(response, 200, { success: true, transaction: NO_HASH, network: 'eip155:84532' });
    case 'lies about refusal': {
      const { network } = await settle();
      const errorReason = 'invalid_exact_evm_insufficient_balance';
      return answer(response, 200, { success: false, transaction: '', network, errorReason });
    }
    case 'refuses without a reason':
      return answer(response, 200, { success: false, transaction: '', network: 'eip155:84532' });
  }
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
