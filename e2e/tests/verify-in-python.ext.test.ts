import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '@orrery/testing/system';
import { expect, it, onTestFinished } from 'vitest';
import { describeWithProgram } from '../src/external/describe-with-program.js';

const PROGRAM = join(repositoryRoot, 'examples/verification/verify_history.py');
const address = `0x${'5a'.repeat(20)}`;
const run = promisify(execFile);

/** What the program ends with on a deployment without entries. Its instances are these; `tooOften` requests are refused before. */
async function outcomeOf(instances: readonly object[], { tooOften = 0, args = [] as string[], env = {} }) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const what = pathname.split('/')[6];
    asked.push(`${what} ${searchParams.get('cursor')}`);
    if (asked.length <= tooOften) return response.writeHead(429, { 'retry-after': '0' }).end();
    const data = { history: [], 'entity-instances': instances }[what ?? ''];
    const pagination = { limit: 100, next: null };
    return response.end(JSON.stringify({ data: data ?? { address, source: null }, pagination }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const known = { PATH: process.env['PATH'], ORRERY_KEY: 'k', PYTHONDONTWRITEBYTECODE: '1', ...env };
  const ended = run('python3', [PROGRAM, url, '1', address, ...args], { env: known });
  const {
    code = 0,
    stdout,
    stderr,
  } = (await ended.catch((error: unknown) => error)) as {
    code?: number;
    stdout: string;
    stderr: string;
  };
  return { code, stdout, stderr, asked };
}

describeWithProgram('python3', 'the verifier in Python', () => {
  it('asks again where it asked too often, ten times at most', async () => {
    expect(await outcomeOf([], { tooOften: 9 })).toMatchObject({ code: 0 });
    const { code, asked } = await outcomeOf([], { tooOften: 100 });
    expect([code, asked]).toEqual([2, Array(10).fill('undefined null')]);
  });

  it('asks for no instances behind the last page', async () => {
    const row = (at: number) => ({ entitySchema: 'horse', instanceId: `H${at}`, state: {}, revision: 1 });
    const { code, asked } = await outcomeOf(
      Array.from({ length: 100 }, (_, at) => row(at)),
      {},
    );
    expect([code, asked.filter((one) => one.startsWith('entity'))]).toEqual([1, ['entity-instances null']]);
  });

  it('accuses no history where it has no package to check a checkpoint with', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'orrery-without-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const note = join(folder, 'checkpoint');
    await writeFile(join(folder, 'cryptography.py'), 'raise ImportError("not here")');
    await writeFile(note, `host/${address}/1\n0\nAAAA\n\n— host AAAAAAAA\n`);
    const args = ['--checkpoint', note, '--key', 'host+00000000+AAAA'];
    const { code, stderr } = await outcomeOf([], { args, env: { PYTHONPATH: folder } });
    expect([code, stderr]).toEqual([2, 'A checkpoint takes the package `cryptography`: not here\n']);
  });
});
