import { expect, it } from 'vitest';
import { answering, runCommand, startScriptedServer } from './scripted-server.js';

const ADDRESS = `0x${'a'.repeat(40)}`;
const COUNTED = { lookedAt: 3, unfit: 1, mapped: 1, misfits: [], next: null };

it.each([
  [['level=1'], '', { mapping: { level: 1 } }],
  [['level=1', '--where', 'true'], ' or satisfied the condition', { mapping: { level: 1 }, where: 'true' }],
  [['--defaults'], ' or lacked defaults', { mapping: {}, fillDefaults: true }],
  [
    ['--unset', 'old', '--where', 'true', '--defaults'],
    ' or satisfied the condition or lacked defaults',
    { mapping: { old: null }, where: 'true', fillDefaults: true },
  ],
])('instances map %j says what selected instances', async (options, selecting, asked) => {
  const { url, received } = await startScriptedServer(answering(COUNTED));
  const { out } = await runCommand(url, 'instances', 'map', `${ADDRESS}/${ADDRESS}`, 'guest', ...options);
  expect(JSON.parse(received[0]?.body ?? '')).toEqual({ entitySchema: 'guest', ...asked });
  expect(out).toBe(`1 of 3 instances did not satisfy the schema${selecting}, and 1 of them were mapped.`);
});
