import { appendFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNode } from '@orrery/testing/system';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { readRecording } from '../src/document/read-recording.js';

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
  // As if it had been killed while it wrote.
  const [file = ''] = await readdir(folder);
  await appendFile(join(folder, file), '{"method":"GET","url":"/cut');
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
