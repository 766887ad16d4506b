import { expect, it } from 'vitest';
import { commandsOf, quoted } from './as-commands.js';

const request = { event: "Anna's race", input: { note: 'it is $HOME' } };
const of = commandsOf('https://orrery.example', { world: '7', deployment: '0xab' }, request);

it.each([
  ['race_result', 'race_result'],
  ['7/0xab', '7/0xab'],
  ['', "''"],
  ['$HOME `ls` "x" \\', '\'$HOME `ls` "x" \\\''],
  ["it's", "'it'\\''s'"],
])('%j is one word of a shell: %s', (text, word) => {
  expect(quoted(text)).toBe(word);
});

it('curl sends the event and its input, with the key of the environment', () => {
  expect(of.curl).toBe(
    [
      'curl -X POST https://orrery.example/api/worlds/7/deployments/0xab/execute \\',
      '  -H "Authorization: Bearer $ORRERY_KEY" \\',
      "  -H 'Content-Type: application/json' \\",
      `  --data '{"event":"Anna'\\''s race","input":{"note":"it is $HOME"}}'`,
    ].join('\n'),
  );
});

it('the command names deployment, event and input', () => {
  expect(of.orrery).toBe(
    [
      "orrery execute 7/0xab 'Anna'\\''s race' \\",
      `  --input '{"note":"it is $HOME"}' \\`,
      '  --url https://orrery.example',
    ].join('\n'),
  );
});

it('the call of the SDK is a program', async () => {
  const body = of.sdk.split('\n').slice(1).join('\n');
  const sent: unknown[] = [];
  const createOrrery = () => ({
    deployment: (...names: string[]) => ({ execute: (what: object) => sent.push(names, what) }),
  });
  const run = new Function('createOrrery', 'ORRERY_KEY', `return (async () => {${body}})()`);
  await run(createOrrery, 'a key');
  expect(sent).toEqual([['7', '0xab'], request]);
});
