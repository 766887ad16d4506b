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
