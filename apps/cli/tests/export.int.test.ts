import { access, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartupError } from '@orrery/service-kit';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createProgram } from '../src/program.js';
import { answering, runCommand, startScriptedServer } from './scripted-server.js';

const ADDRESS = `0x${'a'.repeat(40)}`;
const downs = { address: ADDRESS, name: 'Downs', description: null, domainTags: [], promptSeed: null };
const SPRINT = 'name: sprint # Never applied.\n';

let folder: string;
let url: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-export-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'events'));
  await writeFile(join(folder, 'world.yaml'), 'name: Downs\n');
  await writeFile(join(folder, 'events/sprint.yaml'), SPRINT);
  ({ url } = await startScriptedServer((reply, request) =>
    answering(request.url === `/api/worlds/${ADDRESS}` ? downs : [])(reply, request),
  ));
});

/** An export; `answer`: of the person at the terminal, undefined where there is none. */
async function exported(answer: boolean | undefined, ...options: string[]) {
  const [notes, asked]: [string[], string[]] = [[], []];
  const program = createProgram({
    env: { ORRERY_URL: url, ORRERY_KEY: 'k', ORRERY_DATA_DIR: '/nowhere' },
    write: () => undefined,
    note: (line) => void notes.push(line),
    confirm: async (question) => {
      asked.push(question);
      if (answer === undefined) throw new StartupError('There is nobody to ask.');
      return answer;
    },
  });
  await program.parseAsync(['world', 'export', folder, '--world', ADDRESS, ...options], { from: 'user' });
  const isThere = await access(join(folder, 'events/sprint.yaml')).then(
    () => true,
    () => false,
  );
  return { notes: notes.join('\n'), asked, isThere };
}

describe('an export to a folder with files of what the world does not have', () => {
  const left =
    'left events/sprint.yaml, which the world does not have: `orrery world apply` adds it, `--prune` removes the file';

  it('asks before it removes them', async () => {
    expect(await exported(false)).toEqual({
      asked: ['Remove events/sprint.yaml, which the world does not have?'],
      ...{ notes: left, isThere: true },
    });
    const removed = 'removed events/sprint.yaml, which the world no longer has';
    expect(await exported(true)).toMatchObject({ notes: removed, isThere: false });
  });

  it('leaves them where nobody can be asked, unless it is told to', async () => {
    expect(await exported(undefined)).toMatchObject({ notes: left, isThere: true });
    expect(await exported(undefined, '--prune')).toMatchObject({ asked: [], isThere: false });
  });

  it('names files that cannot be read, and removes none', async () => {
    await writeFile(join(folder, 'events/sprint.yaml'), Buffer.from(`\ufeff${SPRINT}`, 'utf16le'));
    expect(await exported(true, '--prune')).toMatchObject({
      notes: 'left events/sprint.yaml, which holds no definition that can be read: mend or remove it',
      ...{ asked: [], isThere: true },
    });
  });
});

it('an export makes files of one format of those of another', async () => {
  await rm(join(folder, 'events/sprint.yaml'));
  expect((await exported(undefined, '--format', 'json')).notes).toBe(
    'removed world.yaml, whose definition another file holds now',
  );
  expect((await readdir(folder)).sort()).toEqual(['events', 'schemas', 'world.json']);
});

it('files that cannot be taken for what they say are refused with what to do', async () => {
  const apply = () => runCommand(url, 'world', 'apply', folder, '--world', ADDRESS, '--dry-run');
  // An editor's lock on a file that is being changed.
  await symlink('ann@house.1234:1', join(folder, 'events/.#sprint.yaml'));
  await mkdir(join(folder, 'events/old.yaml'));
  await rm(join(folder, 'events/sprint.yaml'));
  expect((await apply()).message).toBe('');
  for (const text of [Buffer.from('name: Käthe', 'latin1'), Buffer.from('\ufeffname: x', 'utf16le')]) {
    await writeFile(join(folder, 'events/sprint.yaml'), text);
    expect((await apply()).message).toBe(
      `${join(folder, 'events/sprint.yaml')} is not UTF-8: save it as UTF-8.`,
    );
  }
  expect(await readFile(join(folder, 'world.yaml'), 'utf8')).toBe('name: Downs\n');
});

it.runIf(process.platform === 'linux')('an export ends where no folder can be made', async () => {
  const { message } = await runCommand(url, 'world', 'export', '/proc/orrery', '--world', ADDRESS);
  expect(message).toBe(
    'The folder /proc/orrery/schemas cannot be made (ENOENT): make it writable, or choose another folder.',
  );
});
