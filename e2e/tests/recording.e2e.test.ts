import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNode } from '@orrery/testing/system';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readRecording } from '../src/document/read-distinct.js';
import { tellApartBy } from '../src/document/tell-apart.js';

afterEach(() => void vi.unstubAllEnvs());

/** Answers in two parts, with headers given in both ways; says on which port. */
const program = `
  require('node:http').createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('X-First', 1);
      response.writeHead(201, { 'Content-Type': 'text/plain' });
      response.write('two ');
      response.end('parts');
    });
  }).listen(0, function () { process.stdout.write('at ' + this.address().port + '\\n'); });
`;

it('a program is recorded with what it was asked and what it answered, until it is killed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'orrery-recording-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  vi.stubEnv('RECORD_EXCHANGES', folder);
  await using server = startNode('-e', {}, { args: [program] });
  const [, port] = await server.waitFor(/at (\d+)/);
  const answer = await fetch(`http://127.0.0.1:${port}/a?b=c`, { method: 'POST', body: 'näïve' });
  expect(await answer.text()).toBe('two parts');
  await server.end('SIGKILL');
  const recorded = [];
  for await (const exchange of readRecording(folder)) recorded.push(exchange);
  expect(recorded).toEqual([
    {
      method: 'POST',
      url: '/a?b=c',
      headers: expect.objectContaining({ 'content-length': '7' }),
      body: 'näïve',
      answer: { status: 201, headers: { 'x-first': '1', 'content-type': 'text/plain' }, body: 'two parts' },
    },
  ]);
});

describe('values are told apart by what a schema can ask of them', () => {
  const tell = tellApartBy({
    properties: { named: {}, list: { maxItems: 2 } },
    colour: { enum: ['red', 'blue', 7] },
    code: { pattern: '^[a-z]+$', maxLength: 5 },
    count: { minimum: 1, maximum: 10 },
  });

  it.each([
    ['texts of a pattern and a length', 'abc', 'def'],
    ['whole numbers between the same bounds', 3, 4],
    ['members that no schema names', { one: 'abc' }, { two: 'def' }],
    ['lists of the same kinds', [3, 4, 4], [4, 3, 3]],
  ])('%s are alike', (_, one, other) => {
    expect(tell(one)).toBe(tell(other));
  });

  it.each([
    ['a text that is enumerated', 'red', 'reb'],
    ['two that are', 'red', 'blue'],
    ['a text beyond a pattern', 'abc', 'Abc'],
    ['a text that is too long', 'abcde', 'abcdef'],
    ['a number that is enumerated', 7, 6],
    ['a number beyond a bound', 10, 11],
    ['a number with a fraction', 3, 3.5],
    ['a text and a number', '3', 3],
    ['nothing and an empty text', null, ''],
    ['a member that a schema names', { named: 1 }, { other: 1 }],
    ['a member more', { named: 1 }, { named: 1, other: 1 }],
    ['a list with one more than is allowed', [3, 3], [3, 3, 3]],
    ['a list with another kind in it', [3, 4], [3, 'a']],
  ])('%s differ', (_, one, other) => {
    expect(tell(one)).not.toBe(tell(other));
  });

  it('and not at all where a schema asks for more', () => {
    expect(() => tellApartBy({ list: { uniqueItems: true } })).toThrow(/uniqueItems/);
  });
});
