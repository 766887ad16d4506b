import { VERSION } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { createProgram } from './program.js';

/** What a line that is wrong leaves on the error output. */
async function complaint(...args: string[]): Promise<string> {
  let written = '';
  const program = createProgram({
    env: {},
    write: () => undefined,
    note: () => undefined,
    confirm: async () => false,
  });
  const all = [program, ...program.commands.flatMap((one) => [one, ...one.commands])];
  for (const command of all)
    command.exitOverride().configureOutput({
      writeErr: (text) => {
        written += text;
      },
    });
  await expect(program.parseAsync(args, { from: 'user' })).rejects.toThrow();
  return written;
}

describe('a line that is wrong', () => {
  it.each([
    [['execute'], 'orrery execute [options] <deployment> [event] [key=value...]'],
    [['worlds', 'list', '--bogus'], 'orrery worlds list [options]'],
    [['public', 'execute', '--event', 'x'], 'orrery public execute [options]'],
    [['help', 'schedules', 'rum'], 'orrery schedules [options] [command]'],
    [['world', 'aply', 'x'], 'orrery world [options] [command]'],
  ])('is answered with its form: %j', async (args, usage) => {
    const written = await complaint(...args);
    expect(written).toMatch(/^error: /);
    expect(written).toContain(`usage: ${usage}   (--help shows more)`);
  });
});

describe('the options that name a server', () => {
  const asked = async (...args: string[]): Promise<string> => {
    const notes = { write: () => undefined, note: () => undefined, confirm: async () => false };
    const program = createProgram({ env: { ORRERY_DATA_DIR: '/nowhere' }, ...notes });
    return await program.parseAsync(args, { from: 'user' }).then(
      () => 'done',
      (error: Error) => error.message,
    );
  };
  const nowhere = 'http://127.0.0.1:1';

  it.each([
    ['--url', nowhere, '--key', 'k', 'worlds', 'list'],
    ['worlds', '--url', nowhere, '--key', 'k', 'list'],
    ['worlds', 'list', '--url', nowhere, '--key', 'k'],
    ['--url', 'http://127.0.0.1:2', '--key', 'k', 'worlds', 'list', '--url', nowhere],
  ])('may stand anywhere: %j', async (...args) => {
    expect(await asked(...args)).toMatch(/^No Orrery answers at http:\/\/127\.0\.0\.1:1 /);
  });

  it('are refused by a command that asks no server', async () => {
    expect(await asked('--url', nowhere, 'accounts', 'list')).toBe(
      '`orrery accounts list` takes no --url: leave it out. `orrery accounts list --help` shows what it takes.',
    );
  });
});

it('`--version` prints the version', async () => {
  let written = '';
  const program = createProgram({
    env: {},
    write: () => undefined,
    note: () => undefined,
    confirm: async () => false,
  }).configureOutput({
    writeOut: (text) => {
      written += text;
    },
  });
  await expect(program.parseAsync(['--version'], { from: 'user' })).rejects.toThrow();
  expect(written).toBe(`${VERSION}\n`);
});

it('`help` takes all words of a command', async () => {
  let written = '';
  const silent = { write: () => undefined, note: () => undefined, confirm: async () => false };
  const program = createProgram({ env: {}, ...silent });
  const run = program.commands.flatMap((one) => one.commands).find((one) => one.name() === 'run');
  run?.configureOutput({
    writeOut: (text) => {
      written += text;
    },
  });
  await program.parseAsync(['help', 'schedules', 'run'], { from: 'user' });
  expect(written).toMatch(/^Usage: orrery schedules run /);
});
