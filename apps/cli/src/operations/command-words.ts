import type { RoutedRpc } from '@orrery/contracts';
import { readValue } from '../documents/read-document.js';
import { EXTRAS } from './extras.js';
import type { OperationRequest } from './fill-request.js';
import type { Member } from './member.js';
import { flagOf } from './operation-command.js';
import { formOf, type OperationForm, type Target } from './operation-form.js';
import { isOffered, wordsOf } from './operations-commands.js';

/** A request as documents show it; what it names stands in `targets`, by the kind of what is named. */
export interface ShownRequest extends OperationRequest {
  readonly targets: Readonly<Record<'world' | 'deployment', string>>;
}

/** The words after `orrery` that make a request, for documents; undefined where no command makes it. */
export function commandWords(rpc: RoutedRpc, request: ShownRequest): readonly string[] | undefined {
  const own = OURS[rpc.name];
  if (own !== undefined) return own(request);
  if (!isOffered(rpc)) return undefined;
  const form = formOf(rpc);
  const targets = form.targets.map((target) => targetOf(target, request));
  const { last, options } = bodyWords(rpc, form, request.body);
  return [...wordsOf(rpc), ...targets, ...last, ...texts(form, request), ...options];
}

function targetOf({ kind, name, params }: Target, { targets, params: given, query }: ShownRequest): string {
  if (kind === 'world' || kind === 'deployment') return targets[kind];
  return (kind === 'query' ? query[name] : given[params[0] ?? '']) ?? '';
}

const texts = ({ query, headers }: OperationForm, request: OperationRequest): string[] =>
  [...query, ...headers].flatMap(({ name, kind }) => {
    const value = request.query[name] ?? request.headers[name];
    if (value === undefined) return [];
    return kind === 'flag' ? [`--${flagOf(name)}`] : [`--${flagOf(name)}`, value];
  });

/** Arguments after those that name the thing, and options. */
function bodyWords(rpc: RoutedRpc, form: OperationForm, body: unknown): Record<'last' | 'options', string[]> {
  const extra = EXTRAS[rpc.name];
  if (form.bodyIsList) return { last: bindingWords(body), options: [] };
  const members = (body ?? {}) as Readonly<Record<string, unknown>>;
  // `event@version`, or `key=value`; other commands take neither.
  const rest =
    extra?.rest === undefined ? form.open?.name : rpc.name === 'deployments.create' ? 'bindings' : '';
  const given = rest === undefined ? undefined : members[rest];
  const named = form.named.flatMap(({ name }) => (name in members ? [String(members[name])] : []));
  const optional = form.optional.filter(({ name }) => name !== rest);
  return {
    last: [
      ...named,
      ...(given === undefined ? [] : Array.isArray(given) ? bindingWords(given) : pairWords(given)),
    ],
    options: [
      ...optional.flatMap((one) => optionWords(one, members[one.name], extra)),
      ...clearWords(members),
    ],
  };
}

const bindingWords = (bindings: unknown): string[] =>
  (bindings as { event: string; eventVersion: number }[]).map(
    ({ event, eventVersion }) => `${event}@${eventVersion}`,
  );

/** As `key=value`: a text that would be read as another value is written as JSON. */
const pairWords = (value: unknown): string[] =>
  Object.entries(value as object).map(([key, one]) => {
    const isPlain = typeof one === 'string' && readValue(one) === one;
    return `${key}=${isPlain ? one : JSON.stringify(one)}`;
  });

function optionWords(
  { name, kind }: Member,
  value: unknown,
  extra: { readonly hidden?: readonly string[] } = {},
): string[] {
  if (value === undefined || value === null) return [];
  // What is hidden has an option of its own: `--url` of a webhook is `--to`.
  const flag = extra.hidden?.includes(name) ? '--to' : `--${flagOf(name)}`;
  if (kind === 'list') return [flag, (value as string[]).join(',')];
  return [flag, kind === 'json' || kind === 'value' ? JSON.stringify(value) : String(value)];
}

function clearWords(members: Readonly<Record<string, unknown>>): string[] {
  const cleared = Object.keys(members).filter((name) => members[name] === null);
  return cleared.length === 0 ? [] : ['--clear', cleared.join(',')];
}

type Words = (request: ShownRequest) => readonly string[];

/** Operations whose command is made by hand. */
const OURS: Readonly<Record<string, Words | undefined>> = {
  'keys.create': ({ body }) => {
    const { name, scopes } = body as { name: string; scopes: readonly string[] };
    return ['keys', 'create', '--own', '--name', name, '--scopes', scopes.join(',')];
  },
  'keys.list': () => ['keys', 'list'],
  'instances.check': mappingWords('check'),
  'instances.map': mappingWords('map'),
  'deployments.stream': ({ targets, headers }) => {
    const after = headers['last-event-id'];
    return ['stream', targets.deployment, ...(after === undefined ? [] : ['--after', after])];
  },
  'public.execute': publicWords,
  'public.executeEvent': publicWords,
};

function mappingWords(verb: string): Words {
  return ({ targets, body }) => {
    const { entitySchema, mapping, where, fillDefaults } = body as {
      entitySchema: string;
      mapping: Readonly<Record<string, unknown>>;
      where?: string;
      fillDefaults?: boolean;
    };
    const removed = Object.keys(mapping).filter((name) => mapping[name] === null);
    const set = Object.fromEntries(Object.entries(mapping).filter(([, value]) => value !== null));
    return [
      ...['instances', verb, targets.deployment, entitySchema, ...pairWords(set)],
      ...(removed.length === 0 ? [] : ['--unset', removed.join(',')]),
      ...(where === undefined ? [] : ['--where', where]),
      ...(fillDefaults === true ? ['--defaults'] : []),
    ];
  };
}

function publicWords({ params, body }: ShownRequest): readonly string[] {
  const { event = params['event'] ?? '', input } = body as { event?: string; input?: unknown };
  return [
    ...['public', 'execute', '--wallet', 'wallet.json', '--deployment', params['address'] ?? ''],
    ...['--event', event, '--input', JSON.stringify(input ?? {})],
  ];
}
