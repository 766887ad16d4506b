import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/**
 * What happens to a batch. `lose answer`: the server gets it, the client never hears of it. `refuse`: neither. `swallow`: the
 * client is told that its transactions were taken, and the server never gets them. An error or a result: the server's answer to
 * each. `own`: the result of this request alone, in place of the server's.
 */
export type Fault =
  | 'pass'
  | 'lose answer'
  | 'refuse'
  | 'swallow'
  | { readonly error: string; readonly code?: number }
  | { readonly result: unknown }
  | { readonly own: unknown };

const ZEROS: Fault = { result: `0x${'00'.repeat(32)}` };

const isOwn = (fault: Fault) => typeof fault === 'object' && 'own' in fault;

function withOwn(text: string, requests: readonly RpcRequest[], faults: readonly Fault[]): string {
  if (!faults.some(isOwn)) return text;
  const own = new Map(requests.map(({ id }, at) => [id, faults[at] ?? 'pass']));
  const replies = JSON.parse(text) as { id: number }[];
  return JSON.stringify(
    replies.map((reply) => {
      const fault = own.get(reply.id);
      return typeof fault === 'object' && 'own' in fault
        ? { jsonrpc: '2.0', id: reply.id, result: fault.own }
        : reply;
    }),
  );
}

/** An RPC server in front of another one. */
export async function startFaultProxy(
  target: string,
  faultOf: (request: RpcRequest) => Fault | Promise<Fault>,
) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on(
      'end',
      () => void answer(Buffer.concat(chunks).toString(), response).catch(() => response.destroy()),
    );
  });
  const answer = async (body: string, response: ServerResponse) => {
    const requests = JSON.parse(body) as RpcRequest[];
    const faults = await Promise.all(requests.map(faultOf));
    const found = faults.find((one) => one !== 'pass' && !isOwn(one)) ?? 'pass';
    const fault = found === 'swallow' ? ZEROS : found;
    if (fault === 'refuse') return response.destroy();
    if (typeof fault === 'object' && !isOwn(fault)) {
      const answer =
        'error' in fault ? { error: { code: fault.code ?? -32000, message: fault.error } } : fault;
      return response.end(JSON.stringify(requests.map(({ id }) => ({ jsonrpc: '2.0', id, ...answer }))));
    }
    const headers = { 'content-type': 'application/json' };
    const forwarded = await fetch(target, { method: 'POST', headers, body });
    const text = withOwn(await forwarded.text(), requests, faults);
    return fault === 'lose answer' ? response.destroy() : response.end(text);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
