import type { RoutedRpc } from '@orrery/contracts';
import { toKebab } from '../terminal/options.js';

/** Where the name of an operation is not the best name of its command. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  'deployments.execute': ['execute'],
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
  models: 'AI models',
  cron: 'cron expressions',
  schedules: 'schedules of a deployment, and what became of each due time',
  chains: 'chains that results are pushed to',
  pushes: 'pushes to chains: list, retry, skip',
  keys: 'API keys',
  auth: 'ways to a token: wallets, where the operator allows sign-up, and sign-in codes',
};

/** The words of an operation's command: a group and a verb, or the verb alone. */
export function placeOf({ name }: Pick<RoutedRpc, 'name'>): readonly string[] {
  const place = PLACES[name];
  if (place !== undefined) return place;
  const [group = '', verb = ''] = name.split('.');
  return [GROUPS[group] ?? toKebab(group), toKebab(verb)];
}
