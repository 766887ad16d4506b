import { expect, it, onTestFinished } from 'vitest';
import { answering, type Step, startScriptedServer, streaming } from '../../tests/scripted-server.js';
import { createOrrery } from '../orrery.js';

async function published(...steps: Step[]) {
  const server = await startScriptedServer(...steps);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const { received } = server;
  return { received, deployment: createOrrery({ url: server.url, token: 'secret' }).published('0xab') };
}

it('is read below /app, without the key', async () => {
  const { received, deployment } = await published(answering([]));
  for await (const _ of deployment.instances({ atSeq: 3 }));
  for await (const _ of deployment.history({ include: 'all' }));
  for await (const _ of deployment.journal());
  expect(received.map(({ url }) => url.replace(/\?.*/, ''))).toEqual([
    '/app/deployments/0xab/entity-instances',
    '/app/deployments/0xab/history',
    '/app/deployments/0xab/history',
  ]);
  expect(received.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined, undefined]);
});

it('is followed below /app, too', async () => {
  const entry = { seq: 8, hash: 'h8', prevHash: 'h7' };
  const block = `id: 8\nevent: execution\ndata: ${JSON.stringify(entry)}`;
  const { received, deployment } = await published(streaming([block], 'open'));
  const events = deployment.stream({ after: 7 });
  onTestFinished(async () => void (await events.return()));
  expect((await events.next()).value).toMatchObject({ entry: { seq: 8 } });
  expect(received.map(({ url, headers }) => [url, headers.authorization])).toEqual([
    ['/app/deployments/0xab/stream', undefined],
  ]);
});
