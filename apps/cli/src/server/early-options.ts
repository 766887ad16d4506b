import { StartupError } from '@orrery/service-kit';
import type { Command } from 'commander';
import { withServerOptions } from './find-server.js';

const NAMES = ['url', 'key'] as const;

/** Lets the options that name a server also stand before the command, and before its last word. */
export function takeServerOptionsEarly(program: Command): void {
  for (const group of groupsOf(program)) withServerOptions(group).enablePositionalOptions();
  program.hook('preAction', (_, command) => {
    for (const name of NAMES) give(command, name);
  });
}

const groupsOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [] : [command, ...command.commands.flatMap(groupsOf)];

/** The option nearest to the command counts. @throws StartupError where the command asks no server */
function give(command: Command, name: (typeof NAMES)[number]): void {
  const value: unknown = ancestorsOf(command)
    .map((above) => above.opts()[name])
    .find((one) => one !== undefined);
  if (value === undefined) return;
  const words = [...ancestorsOf(command).reverse(), command].map((one) => one.name()).join(' ');
  if (!command.options.some((option) => option.attributeName() === name))
    throw new StartupError(
      `\`${words}\` takes no --${name}: leave it out. \`${words} --help\` shows what it takes.`,
    );
  if (command.opts()[name] === undefined) command.setOptionValueWithSource(name, value, 'cli');
}

/** From the nearest to the program. */
const ancestorsOf = ({ parent }: Command): Command[] =>
  parent === null ? [] : [parent, ...ancestorsOf(parent)];
