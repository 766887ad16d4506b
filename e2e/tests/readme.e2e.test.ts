import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUILT_COMMAND, repositoryRoot, type System, startAllInOne } from '@orrery/testing/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const readme = readFileSync(join(repositoryRoot, 'README.md'), 'utf8');
const commands = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)]
  .map(([, block = '']) => block)
  .filter((block) => block.startsWith('npx orrery '));
const walkThrough = [...readme.matchAll(/```bash\n([\s\S]*?)```/g)].map(([, block = '']) => block);

const COMMAND = `${process.execPath} ${join(repositoryRoot, BUILT_COMMAND)}`;
const MARK = 'commands follow';

describe('the README', () => {
  let system: System;
  let folder: string;
  beforeAll(async () => {
    system = await startAllInOne();
    folder = mkdtempSync(join(tmpdir(), 'orrery-readme-'));
    mkdirSync(join(folder, '.orrery'));
    writeFileSync(join(folder, '.orrery', 'api-key'), `${system.key}\n`);
    writeFileSync(join(folder, '.orrery', 'url'), `${system.url}\n`);
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await system[Symbol.asyncDispose]();
  });

  it('works pasted line by line', () => {
    const pasted = spawnSync('bash', ['-s'], {
      cwd: folder,
      // The commands come after the walk-through, in its shell.
      input: [...walkThrough, `npx() { shift; ${COMMAND} "$@"; }; echo ${MARK}`, ...commands].join('\n'),
      encoding: 'utf8',
    });
    expect(pasted.stderr).toBe('');
    const [walked = '', commanded = ''] = pasted.stdout.split(MARK);
    const answers = walked
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.filter(({ success }) => success !== true)).toEqual([]);
    expect(answers.find(({ data }) => data.event === 'race_result' && data.seq)?.data).toMatchObject(
      promisedAnswer(),
    );
    expect(answers.find(({ data }) => 'valid' in data)?.data).toMatchObject({
      valid: true,
      firstDivergence: null,
    });
    const { llm, status } = answers.map(({ data }) => data[0]).findLast((entry) => entry?.llm) ?? {};
    expect({ status, model: llm?.model }).toEqual({ status: 'succeeded', model: 'orrery/sampler' });
    expect(answers.at(-1)?.data).toMatchObject({ isPublic: true });
    expect(commanded).toMatch(
      /"horse:HORSE_1": [\s\S]*HORSE_2 wins R9[\s\S]*is as the files say: there is nothing to do\.\n$/,
    );
  });

  it('has a demo that plays against the running server', () => {
    const demo = [join(repositoryRoot, BUILT_COMMAND), 'demo'];
    const shown = execFileSync(process.execPath, demo, { cwd: folder, encoding: 'utf8' });
    expect(shown).toMatch(/HORSE_1\s+.*1\s+.*12/);
  });
});

/** The answer as the README shows it, without what differs each time. */
function promisedAnswer(): object {
  const [, text = '{}'] = readme.match(/```json\n([\s\S]*?)```/) ?? [];
  const { historyId: _, ...data } = JSON.parse(text).data;
  return data;
}
