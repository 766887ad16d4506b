import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createProgram } from '../src/program.js';

/** A server with these chains, which is only to be read. */
async function startServer(...names: string[]) {
  const asked: string[] = [];
  const server = createServer(({ method, url }, response) => {
    asked.push(`${method} ${url}`);
    const data = names.map((name) => ({ name, caip2: 'eip155:1', family: 'evm', status: 'available' }));
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ success: true, data }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const play = (chain: string) => {
    const context = { env: {}, write: () => undefined, note: () => undefined, confirm: async () => false };
    const args = ['demo', '--chain', chain, '--url', url, '--key', 'k'];
    return createProgram(context).parseAsync(['node', 'orrery', ...args]);
  };
  return { asked, play };
}

it('the demo looks its chain up before it makes anything', async () => {
  const { asked, play } = await startServer('local', 'base-sepolia');
  await expect(play('moon')).rejects.toThrow('The server has no chain moon. It has: local, base-sepolia.');
  expect(asked).toEqual(['GET /api/chains?limit=100']);
  await expect((await startServer()).play('local')).rejects.toThrow('start it with CHAINS_FILE');
});
