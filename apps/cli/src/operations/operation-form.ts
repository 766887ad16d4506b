import type { RoutedRpc } from '@orrery/contracts';
import type { z } from 'zod';
import { type Member, membersOf } from './member.js';

/** What an operation takes, as the arguments and options of its command. */
export interface OperationForm {
  /** Arguments that name the thing, in the order of the path; then what the query cannot do without. */
  readonly targets: readonly Target[];
  readonly query: readonly Member[];
  readonly headers: readonly Member[];
  readonly body: readonly Member[];
  readonly bodyIsList: boolean;
  /** Members of the body that are arguments: texts and numbers that are always needed. */
  readonly named: readonly Member[];
  /** The member of the body that `key=value` pairs fill, such as an event's input. */
  readonly open: Member | undefined;
  /** Members of the body that are options. */
  readonly optional: readonly Member[];
}

/** An argument, and the path parameters that it stands for. */
export interface Target {
  readonly name: string;
  readonly kind: 'world' | 'deployment' | 'query' | 'other';
  readonly params: readonly string[];
}

export function formOf({ http, request }: RoutedRpc): OperationForm {
  const { query, headers, body } = (request as z.ZodObject<Record<'query' | 'headers' | 'body', z.ZodType>>)
    .shape;
  const asked = membersOf(query);
  const members = membersOf(body);
  const bodyIsList = body.type === 'array';
  const named = bodyIsList
    ? []
    : members.filter(({ required, kind }) => required && (kind === 'text' || kind === 'number'));
  const open = members.filter(({ isOpen }) => isOpen);
  return {
    targets: [...targetsOf(http.path), ...neededOf(asked)],
    query: asked.filter(({ required }) => !required),
    headers: membersOf(headers),
    body: members,
    bodyIsList,
    named,
    // Of several, none stands out.
    open: open.length === 1 && !bodyIsList ? open[0] : undefined,
    optional: members.filter((member) => !named.includes(member)),
  };
}

/** Where the name of a path parameter is not the best name of its argument. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  schemaName: 'schema',
  eventName: 'event',
  name: 'attribute',
  // Alone: a deployment that is published.
  address: 'deployment',
};

/** A deployment's path names its world, too: one argument stands for both. */
function targetsOf(path: string): Target[] {
  const params = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  if (params[0] === 'idOrAddress') return [{ name: 'world', kind: 'world', params }];
  if (params[0] !== 'worldAddress') return params.map(other);
  const isOfDeployment = params[1] === 'address';
  const first: Target = isOfDeployment
    ? { name: 'deployment', kind: 'deployment', params: params.slice(0, 2) }
    : { name: 'world', kind: 'world', params: params.slice(0, 1) };
  return [first, ...params.slice(first.params.length).map(other)];
}

const other = (name: string): Target => ({ name: ARGUMENTS[name] ?? name, kind: 'other', params: [name] });

const neededOf = (query: readonly Member[]): Target[] =>
  query
    .filter(({ required }) => required)
    .map(({ name }): Target => ({ name, kind: 'query', params: [name] }));
