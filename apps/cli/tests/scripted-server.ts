import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { createProgram } from '../src/program.js';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** An answer, given to one request. */
export type Step = (reply: ServerResponse, request: Received) => void;

/**
 * A server that misbehaves as told, until the test ends: each request gets the next step, further ones the last step again. The
 * SDK's tests have one like it: neither package has the other's tests, and the SDK is built before the testing package.
 */
export async function startScriptedServer(...steps: readonly Step[]) {
  const received: Received[] = [];
  const server = createServer(async (message, reply) => {
    const { method = '', url = '', headers } = message;
    const request = { method, url, headers, body: await text(message) };
    const step = steps[Math.min(received.length, steps.length - 1)];
    received.push(request);
    step?.(reply, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

export const answering =
  (data: unknown, beside: object = {}): Step =>
  (reply) =>
    void reply.end(JSON.stringify({ success: true, data, ...beside }));

export const refusing =
  (status: number, code: string, detail = `Refused: ${code}.`, members: object = {}): Step =>
  (reply) =>
    void reply.writeHead(status).end(JSON.stringify({ success: false, code, detail, ...members }));

/** A page of something else. */
export const page =
  (status: number, headers: Record<string, string> = {}): Step =>
  (reply) =>
    void reply.writeHead(status, headers).end(status === 204 ? undefined : '<h1>Hello</h1>');

/** The request has arrived, and its answer is lost. */
export const breaking: Step = (reply) => void reply.destroy();

/** What a command wrote, and what it failed with. */
export async function runCommand(url: string, ...args: string[]) {
  const [out, notes]: [string[], string[]] = [[], []];
  const program = createProgram({
    env: { ORRERY_URL: url, ORRERY_KEY: 'k', ORRERY_DATA_DIR: '/nowhere' },
    write: (line) => void out.push(line),
    note: (line) => void notes.push(line),
    confirm: async () => false,
  });
  for (const command of program.commands.flatMap((one) => [one, ...one.commands]))
    command.configureOutput({ writeErr: (text) => void notes.push(text) });
  const failure = await program.parseAsync(args, { from: 'user' }).then(
    () => undefined,
    (error: Error) => error,
  );
  return { out: out.join('\n'), notes: notes.join('\n'), failure, message: failure?.message ?? '' };
}
