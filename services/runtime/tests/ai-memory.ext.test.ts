import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MISBEHAVIOUR, startModelServer } from '@orrery/testing/model-server';
import { expect, it } from 'vitest';
import { MAX_BODY_BYTES } from '../src/runs/asking/chat-client.js';
import { askingAt } from './ai-question.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const MIB = 1024 * 1024;

it('memory stays bounded while many answers of 50 MB arrive at once', async () => {
  await using server = await startModelServer({ behaves: MISBEHAVIOUR['50 MB'] });
  const { ask } = askingAt(server.baseUrl);
  collectGarbage();
  const before = process.memoryUsage();
  let most = 0;
  const watch = setInterval(() => {
    const { heapUsed, external, arrayBuffers } = process.memoryUsage();
    most = Math.max(most, heapUsed + external + arrayBuffers);
  }, 5);
  const together = 20;
  const outcomes = await Promise.all(Array.from({ length: together }, () => ask()));
  clearInterval(watch);
  expect(new Set(outcomes.map(({ code }) => code))).toEqual(new Set(['ai_output_invalid']));
  expect(server.calls).toHaveLength(3 * together);
  // Sent: what was read, and what the sockets of both sides still held.
  for (const call of server.calls) expect(call.bytesWritten()).toBeLessThan(MAX_BODY_BYTES + 6 * MIB);
  // The server is in this process too. Read whole, the answers of one round alone would take 1,000 MiB.
  const grown = most - before.heapUsed - before.external - before.arrayBuffers;
  expect(grown).toBeLessThan(500 * MIB);
  collectGarbage();
  const { heapUsed } = process.memoryUsage();
  expect(heapUsed - before.heapUsed).toBeLessThan(20 * MIB);
});
