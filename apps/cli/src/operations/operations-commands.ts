import { httpOperations, type RoutedRpc } from '@orrery/contracts';
import type { Command } from 'commander';
import type { CommandContext } from '../terminal/context.js';
import { toKebab } from '../terminal/options.js';
import { EXTRAS } from './extras.js';
import { addOperationCommand } from './operation-command.js';

/**
 * Adds a command for each operation of the contract, `orrery worlds create …` and so on, beside those that are there
 * already. Left out: streams, which are no answer, and what a wallet signs; `orrery stream` and `orrery public` do these.
 */
export function addOperationsCommands(program: Command, context: CommandContext): void {
  for (const rpc of httpOperations.filter(isOffered)) {
    const words = wordsOf(rpc);
    const verb = words.at(-1) ?? '';
    const parent = words.length === 1 ? program : groupOf(program, words[0] ?? '');
    if (parent.commands.some((command) => command.name() === verb)) continue;
    addOperationCommand(parent, verb, rpc, context, EXTRAS[rpc.name]);
  }
}

export const isOffered = ({ http }: RoutedRpc): boolean => http.stream === undefined && http.signed !== true;

/** The group of this name, which is added unless it is there. */
export function groupOf(program: Command, name: string): Command {
  const found = program.commands.find((command) => command.name() === name);
  const group = found ?? program.command(name);
  group.description(GROUP_DESCRIPTIONS[name] ?? name);
  const alias = GROUP_ALIASES[name];
  return alias === undefined || group.aliases().includes(alias) ? group : group.alias(alias);
}

/** Where the name of an operation is not the best name of its command. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  'deployments.execute': ['execute'],
  'deployments.replay': ['deployments', 'replay-entry'],
  'occurrences.list': ['schedules', 'occurrences'],
  'accounts.me': ['me'],
};
const GROUPS: Readonly<Record<string, string>> = { entitySchemas: 'schemas', aiModels: 'models' };

/** Under which other names groups are found: those of the API's paths. */
export const GROUP_ALIASES: Readonly<Record<string, string>> = {
  schemas: 'entity-schemas',
  versions: 'event-versions',
  bindings: 'event-bindings',
  instances: 'entity-instances',
  models: 'ai-models',
};

/** What the groups are about, as `orrery --help` shows it. */
export const GROUP_DESCRIPTIONS: Readonly<Record<string, string>> = {
  worlds: 'worlds: name, tags, the seed text of prompts',
  schemas: 'entity schemas of a world',
  attributes: 'attributes of an entity schema',
  events: 'events of a world; try them without committing anything',
  versions: 'numbered definitions of an event',
  deployments: 'deployments of a world: create, clone, lock, publish, pause',
  bindings: 'which version of an event a deployment runs',
  instances: 'entities of a deployment and their state',
  executions: 'executions that were requested with --async',
  history: 'what happened in a deployment; verify it',
  payments: 'payments for executions',
  public:
    'what anyone may do with a published deployment: read it, and execute its public events with a wallet',
  models: 'AI models',
  cron: 'cron expressions',
  schedules: 'schedules of a deployment, and what became of each due time',
  chains: 'chains that results are pushed to',
  pushes: 'pushes to chains: list, retry, skip',
  webhooks: 'webhooks of a deployment: create, test, deliveries, redeliver',
  keys: 'API keys',
  auth: 'ways to a token: wallets, where the operator allows sign-up, and sign-in codes',
};

/** The words of an operation's command: a group and a verb, or the verb alone. */
export function wordsOf({ name }: Pick<RoutedRpc, 'name'>): readonly string[] {
  const words = WORDS[name];
  if (words !== undefined) return words;
  const [group = '', verb = ''] = name.split('.');
  return [GROUPS[group] ?? toKebab(group), toKebab(verb)];
}
