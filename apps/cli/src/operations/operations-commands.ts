import { httpOperations, type RoutedRpc } from '@orrery/contracts';
import type { Command } from 'commander';
import type { CommandContext } from '../terminal/context.js';
import { EXTRAS } from './extras.js';
import { addOperationCommand } from './operation-command.js';
import { GROUP_ALIASES, GROUP_DESCRIPTIONS, placeOf } from './placement.js';

/**
 * Adds a command for each operation of the contract, `orrery worlds create …` and so on, beside those that are there
 * already. Left out: streams, which are no answer, and what a wallet signs; `orrery stream` and `orrery public` do these.
 */
export function addOperationsCommands(program: Command, context: CommandContext): void {
  for (const rpc of httpOperations.filter(isOffered)) {
    const words = placeOf(rpc);
    const verb = words.at(-1) ?? '';
    const parent = words.length === 1 ? program : groupOf(program, words[0] ?? '');
    if (parent.commands.some((command) => command.name() === verb)) continue;
    addOperationCommand(parent, verb, { rpc, extra: EXTRAS[rpc.name], context });
  }
}

export const isOffered = ({ http }: RoutedRpc): boolean => http.stream === undefined && http.signed !== true;

function groupOf(program: Command, name: string): Command {
  const found = program.commands.find((command) => command.name() === name);
  const group = found ?? program.command(name);
  group.description(GROUP_DESCRIPTIONS[name] ?? name);
  const alias = GROUP_ALIASES[name];
  return alias === undefined || group.aliases().includes(alias) ? group : group.alias(alias);
}
