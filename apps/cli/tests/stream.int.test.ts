import { expect, it } from 'vitest';
import { breaking, page, refusing, runCommand, type Step, startScriptedServer } from './scripted-server.js';

const DEPLOYMENT = '1/2';
const entry = {
  ...{ seq: 4, kind: 'execution', event: 'win', eventVersion: 1, trigger: 'admin', status: 'succeeded' },
  ...{ executedAt: '2026-11-21T09:30:01.928Z', stateChanges: {}, error: null },
};
const streaming: Step = (reply) =>
  void reply
    .writeHead(200, { 'content-type': 'text/event-stream' })
    .write(`id: 4\nevent: execution\ndata: ${JSON.stringify(entry)}\n\n`);

const TRIES = 'Not connected, it tries again until Ctrl-C: ';

it.each([
  ['where it begins', ['--after', '3']],
  ['where the journal ends', []],
])(
  'a stream that asks %s says why it is not connected, each reason once, and when it is',
  async (_, after) => {
    const web = page(200, { 'content-type': 'text/html' });
    const away = refusing(503, 'overloaded', 'It has too much to do.');
    const end: Step = (reply) => void reply.end('{"success":true,"data":[{"seq":3}]}');
    const steps = [breaking, web, web, away, ...(after.length === 0 ? [end] : []), streaming];
    const { url } = await startScriptedServer(...steps);
    const { out, notes, message } = await runCommand(url, 'stream', DEPLOYMENT, '--count', '1', ...after);
    expect(message).toBe('');
    expect(out).toBe('4  2026-11-21T09:30:01.928Z  win@1  admin  succeeded');
    expect(notes.replace(/\([A-Z_]+\)/, '(REASON)').split('\n')).toEqual([
      `${TRIES}No answer came from ${url} (REASON).`,
      `${TRIES}The answer is HTTP 200, and it is not from Orrery.`,
      `Look at the address, ${url}, and at what stands before the server.`,
      `${TRIES}It has too much to do. (503 overloaded)`,
      'Refused: GET /api/worlds/1/deployments/2/stream',
      'Connected.',
    ]);
  },
);

it.each([
  ['a page of another server', page(404), 'The answer is HTTP 404, and it is not from Orrery.'],
  ['a key that is not known', refusing(401, 'unauthorized'), 'Refused: unauthorized. (401 unauthorized)'],
  ['a scope that is missing', refusing(403, 'insufficient_scope'), 'Refused: insufficient_scope.'],
  ['no such deployment', refusing(404, 'deployment_not_found'), 'Refused: deployment_not_found.'],
])('a stream ends at %s', async (_, step, reason) => {
  const { url, received } = await startScriptedServer(step);
  const { out, notes, message } = await runCommand(url, 'stream', DEPLOYMENT);
  expect(message).toContain(reason);
  expect([out, notes, received.length]).toEqual(['', '', 1]);
});
