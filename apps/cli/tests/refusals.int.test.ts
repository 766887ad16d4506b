import { expect, it } from 'vitest';
import { answering, refusing, runCommand, startScriptedServer } from './scripted-server.js';

const ADDRESS = `0x${'a'.repeat(40)}`;
const DEPLOYMENT = `${ADDRESS}/${ADDRESS}`;
const unauthorized = refusing(401, 'unauthorized', 'The token is not known.', { requestId: 'r1' });

it.each([
  ['that resolving a name met', ['execute', 'Downs/Spring', 'win', '--json'], '/api/worlds'],
  [
    'that `verify` met',
    ['verify', DEPLOYMENT, '--json'],
    `/api/worlds/${ADDRESS}/deployments/${ADDRESS}/history`,
  ],
  [
    'that `stream` met',
    ['stream', DEPLOYMENT, '--json'],
    `/api/worlds/${ADDRESS}/deployments/${ADDRESS}/stream`,
  ],
  ['of an operation', ['worlds', 'get', ADDRESS, '--json'], `/api/worlds/${ADDRESS}`],
])('a refusal %s is the problem document for programs', async (_, args, instance) => {
  const { url } = await startScriptedServer(unauthorized);
  const { message, out } = await runCommand(url, ...args);
  expect(out).toBe('');
  expect(JSON.parse(message)).toEqual({
    success: false,
    error: 'The token is not known.',
    code: 'unauthorized',
    type: 'urn:orrery:problem:unauthorized',
    title: expect.any(String),
    status: 401,
    detail: 'The token is not known.',
    instance,
    requestId: 'r1',
  });
});

it('an entry that a journal has not is not found, by its seq as by its id', async () => {
  const { url } = await startScriptedServer(answering([]));
  const { message } = await runCommand(url, 'history', 'get', DEPLOYMENT, '999', '--json');
  expect(JSON.parse(message)).toMatchObject({ code: 'history_entry_not_found', status: 404 });
});

it('a deployment is not said to be absent where a server cannot tell', async () => {
  const world = answering([{ address: ADDRESS, name: 'Downs' }]);
  const away = refusing(503, 'unavailable', 'The database is away.', { facts: { historyId: 'h' } });
  const { url } = await startScriptedServer(world, away);
  const { message } = await runCommand(url, 'deployments', 'get', '12');
  expect(message).toMatch(/^The database is away\. \(503 unavailable\)/);
  const none = await startScriptedServer(world, refusing(404, 'deployment_not_found'));
  expect((await runCommand(none.url, 'deployments', 'get', '12')).message).toBe(
    'None of your worlds has the deployment 12.',
  );
});
