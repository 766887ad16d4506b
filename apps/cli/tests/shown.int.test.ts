import { expect, it } from 'vitest';
import { answering, refusing, runCommand, startScriptedServer } from './scripted-server.js';

const ADDRESS = `0x${'a'.repeat(40)}`;
const DEPLOYMENT = `${ADDRESS}/${ADDRESS}`;
const CONTROL = /(?!\n)\p{Cc}/u;
/** Clears the screen and sets the title; the colour is begun by a character of C1. */
const HOSTILE = '\u001b[2J\u001b]0;owned\u0007\u009b31mhi';
const guest = { entitySchema: 'guest', instanceId: 'G1', revision: 1, state: { who: HOSTILE } };

it('what players wrote reaches a terminal as text alone, and a program as it is', async () => {
  const list = await startScriptedServer(answering([guest], { message: HOSTILE }));
  const table = await runCommand(list.url, 'instances', 'list', DEPLOYMENT);
  expect(table.out).toContain('\\u001b[2J\\u001b]0;owned\\u0007\\u009b31mhi');
  const json = await runCommand(list.url, 'instances', 'list', DEPLOYMENT, '--json');
  expect(JSON.parse(json.out)).toEqual([guest]);
  const one = await startScriptedServer(answering(guest));
  const yaml = await runCommand(one.url, 'instances', 'get', DEPLOYMENT, 'G1');
  expect(yaml.out).toContain('who: "\\e[2J\\e]0;owned\\a\\u009b31mhi"');
  const wrong = await startScriptedServer(refusing(400, 'validation_failed', HOSTILE));
  const refused = await runCommand(wrong.url, 'instances', 'get', DEPLOYMENT, 'G1');
  expect(refused.message).toContain('\\u009b31mhi (400 validation_failed)');
  for (const { out, notes, message } of [table, json, yaml, refused])
    expect(`${out}${notes}${message}`).not.toMatch(CONTROL);
});

it('a table has a column of any name, and no cell of what a record has not itself', async () => {
  const states: readonly object[] = [{ constructor: 1 }, { who: 'Ann' }];
  const rows = states.map((state, at) => ({ ...guest, instanceId: `G${at}`, state }));
  const { url } = await startScriptedServer(answering(rows));
  const { out } = await runCommand(url, 'instances', 'list', DEPLOYMENT);
  expect(out.split('\n').map((line) => line.split(/ +/).slice(3))).toEqual([
    ['constructor', 'who'],
    ['1', '–'],
    ['–', 'Ann'],
  ]);
});

it('attributes are removed, whatever their names are', async () => {
  const stored = { ...guest, state: { constructor: 1, wins: 2 } };
  const { url, received } = await startScriptedServer(answering(stored));
  const update = ['instances', 'update', DEPLOYMENT, 'G1'];
  expect((await runCommand(url, ...update, 'wins=3', '--unset', 'constructor')).message).toBe('');
  expect(JSON.parse(received.at(-1)?.body ?? '')).toEqual({ state: { wins: 3 } });
  const gone = await runCommand(url, ...update, '--unset', 'valueOf');
  expect(gone.message).toBe('The instance has no attribute "valueOf" to remove.');
  const counted = answering({ lookedAt: 1, unfit: 0, misfits: [], next: null });
  const mapping = await startScriptedServer(counted);
  await runCommand(mapping.url, 'instances', 'map', DEPLOYMENT, 'guest', 'wins=3', '--unset', 'constructor');
  expect(JSON.parse(mapping.received[0]?.body ?? '')).toMatchObject({
    mapping: { wins: 3, constructor: null },
  });
});

it('a number that JSON would change is not sent', async () => {
  const { url, received } = await startScriptedServer(answering(guest));
  const { message } = await runCommand(url, 'execute', DEPLOYMENT, 'win', 'speed=1e400');
  expect(message).toMatch(/The number 1e400 is too large\.$/);
  const clone = await runCommand(url, 'deployments', 'clone', DEPLOYMENT, 'Copy', '--at-seq', 'two');
  expect(clone.failure).toMatchObject({ code: 'commander.invalidArgument' });
  expect(received).toEqual([]);
});
