import { StartupError } from '@orrery/service-kit';
import { readDocument } from '../documents/read-document.js';
import type { Server } from '../server/find-server.js';
import type { Member } from './member.js';
import type { OperationForm, Target } from './operation-form.js';
import { optionValue, readPairs } from './option-value.js';
import { findDeployment, findWorld } from './references.js';

/** A request of an operation, in its parts. */
export interface OperationRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: no body. */
  readonly body: unknown;
}

/** What was typed. Options are found by the names of their members. */
export interface Typed {
  readonly targets: readonly string[];
  readonly named: readonly (string | undefined)[];
  readonly pairs: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  /** A file with the whole body. */
  readonly body?: string | undefined;
  /** Members of the body that become null. */
  readonly clear?: string | undefined;
}

/** @throws StartupError for what is typed wrongly, or names nothing */
export async function fillRequest(
  form: OperationForm,
  typed: Typed,
  server: Server,
): Promise<OperationRequest> {
  return {
    params: await paramsOf(form.targets, typed.targets, server),
    query: { ...textsOf(form.query, typed.options), ...queryTargets(form, typed) },
    headers: textsOf(form.headers, typed.options),
    body: await bodyOf(form, typed),
  };
}

async function paramsOf(targets: readonly Target[], given: readonly string[], server: Server) {
  const params: Record<string, string> = {};
  for (const [at, { kind, params: names }] of targets.entries()) {
    const text = given[at] ?? '';
    if (kind === 'query') continue;
    if (kind === 'deployment') Object.assign(params, await findDeployment(server, text));
    else params[names[0] ?? ''] = kind === 'world' ? await findWorld(server, text) : text;
  }
  return params;
}

const queryTargets = ({ targets }: OperationForm, typed: Typed): Record<string, string> =>
  Object.fromEntries(
    targets.flatMap(({ kind, name }, at) => (kind === 'query' ? [[name, typed.targets[at] ?? '']] : [])),
  );

function textsOf(members: readonly Member[], options: Typed['options']): Record<string, string> {
  const given = members.filter(({ name }) => options[name] !== undefined);
  return Object.fromEntries(given.map(({ name }) => [name, String(options[name])]));
}

async function bodyOf(
  form: OperationForm,
  { named, pairs, options, body: file, clear }: Typed,
): Promise<unknown> {
  if (form.body.length === 0) return undefined;
  const whole = file === undefined ? undefined : await readDocument(file);
  if (form.bodyIsList) return whole;
  if (whole !== undefined && (typeof whole !== 'object' || whole === null || Array.isArray(whole)))
    throw new StartupError(`${file} holds no object.`);
  const body: Record<string, unknown> = { ...whole };
  for (const name of clear?.split(',') ?? []) body[clearable(form, name.trim())] = null;
  for (const [at, member] of form.named.entries()) {
    const text = named[at];
    if (text !== undefined) body[member.name] = await optionValue(member, text);
  }
  for (const member of form.optional) {
    const text = options[member.name];
    if (text !== undefined) body[member.name] = await optionValue(member, String(text));
  }
  if (form.open !== undefined && pairs.length > 0)
    body[form.open.name] = { ...(body[form.open.name] as object | undefined), ...readPairs(pairs) };
  return body;
}

function clearable({ body }: OperationForm, name: string): string {
  const names = body.filter(({ nullable }) => nullable).map((member) => member.name);
  if (names.includes(name)) return name;
  throw new StartupError(`"${name}" cannot be cleared; ${names.join(', ') || 'nothing'} can.`);
}
