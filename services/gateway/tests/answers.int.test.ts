import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import fastify from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { boundAnswers } from '../src/http/load/answers.js';

const MIB = 1024 * 1024;
/** More than sockets hold. */
const shared = Buffer.alloc(16 * MIB, 'x');

/** An application whose clients read nothing. */
async function serve(maxUntakenBytes: number) {
  const app = fastify();
  boundAnswers(app, { takenWithinMs: 60_000, maxUntakenBytes });
  let answered = 0;
  app.addHook('onSend', async () => {
    answered += 1;
  });
  app.get('/shared', async (_, reply) => reply.type('text/plain').send(shared));
  app.get('/texts', async (_, reply) => reply.type('text/plain').send('\u4e2d'.repeat(250 * 1024)));
  app.get('/short', async () => 'ok');
  const sockets: Socket[] = [];
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await app.close();
  });
  const send = async (text: string) => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket.on('error', () => undefined).pause());
    await once(socket, 'connect');
    socket.write(text);
  };
  const open = () => new Promise((resolve) => app.server.getConnections((_, count) => resolve(count)));
  const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  return { send, open, ask, answered: () => answered };
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

it('counts what readers share only as far as it waits for each', async () => {
  const { send, open, answered, ask } = await serve(4 * MIB);
  for (let n = 0; n < 6; n += 1) await send(get('/shared'));
  await expect.poll(answered).toBe(6);
  await ask('/short');
  expect(await open()).toBe(7);
});

it('counts the bytes of a text, not its characters', async () => {
  const { send, open } = await serve(10 * MIB);
  // 24 MB, more than sockets hold, in 8 million characters.
  await send(get('/texts').repeat(32));
  await expect.poll(open).toBe(0);
});

it('counts requests that wait behind an answer that nobody takes', async () => {
  const { send, open } = await serve(MIB);
  const headers = `x-padding: ${'x'.repeat(14 * 1024)}\r\n`;
  for (let n = 0; n < 4; n += 1) await send(get('/shared') + get('/short', headers).repeat(31));
  await expect.poll(open).toBeLessThan(4);
});
