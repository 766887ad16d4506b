import { createServer } from 'node:http';
import { listen } from '@orrery/testing/servers';
import { expect, onTestFinished, test } from 'vitest';
import { startBalancer } from '../src/system/balancer.js';

async function startServer(name: string) {
  const server = { isReady: true };
  const listening = await listen(createServer((_request, reply) => void reply.end(name)));
  onTestFinished(() => listening[Symbol.asyncDispose]());
  return { server, balanced: { port: listening.port, isReady: () => server.isReady } };
}

test('connections go to the servers that are ready, and to all while none is', async () => {
  const [one, two] = [await startServer('one'), await startServer('two')];
  await using balancer = await startBalancer(() => [one.balanced, two.balanced]);
  const ask = async () => {
    const answer = await fetch(balancer.url, { headers: { connection: 'close' } });
    return answer.text();
  };
  const answers = async () => [await ask(), await ask(), await ask(), await ask()].sort();
  expect(await answers()).toEqual(['one', 'one', 'two', 'two']);
  one.server.isReady = false;
  expect(await answers()).toEqual(['two', 'two', 'two', 'two']);
  two.server.isReady = false;
  expect(await answers()).toEqual(['one', 'one', 'two', 'two']);
});
