import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** An answer, given to one request. */
export type Step = (reply: ServerResponse, request: Received) => void;

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** Sends this and breaks the connection of the last request. What the client has not read by then may be lost. */
  cut(partial: string): void;
}

/** A server that misbehaves as told: each request gets the next step, further ones the last step again. */
export async function startScriptedServer(...steps: readonly Step[]): Promise<ScriptedServer> {
  const received: Received[] = [];
  let last: ServerResponse | undefined;
  const server = createServer(async (message, reply) => {
    const { method = '', url = '', headers } = message;
    const request = { method, url, headers, body: await text(message) };
    const step = steps[Math.min(received.length, steps.length - 1)];
    received.push(request);
    last = reply;
    step?.(reply, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    cut: (partial) => void last?.write(partial, () => last?.destroy()),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** JSON with every character beyond ASCII escaped, as some servers and proxies write it. */
const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

export const answering =
  (data: unknown, status = 200, beside: object = {}): Step =>
  (reply) =>
    void reply
      .writeHead(status, { 'content-type': 'application/json' })
      .end(asciiJson({ success: true, data, ...beside }));

export const refusing =
  (status: number, code: string, { headers = {}, ...members }: Record<string, unknown> = {}): Step =>
  (reply) =>
    void reply
      .writeHead(status, { 'content-type': 'application/problem+json', ...(headers as object) })
      .end(
        JSON.stringify({ success: false, code, detail: `Refused: ${code}.`, requestId: 'r1', ...members }),
      );

/** Sends the beginning of a success and breaks the connection. */
export const breaking: Step = (reply) => {
  reply.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
  reply.write('{"success": true,', () => reply.destroy());
};

/** An event stream of these blocks, which then ends or stays open. */
export const streaming =
  (blocks: readonly string[], then: 'end' | 'open' = 'end'): Step =>
  (reply) => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    reply.write(blocks.map((block) => `${block}\n\n`).join(''));
    if (then === 'end') reply.end();
  };
