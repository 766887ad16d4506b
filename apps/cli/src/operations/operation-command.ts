import type { RoutedRpc } from '@orrery/contracts';
import { Argument, type Command, Option } from 'commander';
import {
  type Server,
  type ServerOptions,
  serverOf,
  urlOf,
  withServerOptions,
} from '../server/find-server.js';
import { Refusal } from '../server/refusal.js';
import type { CommandContext } from '../terminal/context.js';
import { toKebab } from '../terminal/options.js';
import { fillRequest, type OperationRequest, type Typed } from './fill-request.js';
import type { Member } from './member.js';
import { formOf, type OperationForm, type Target } from './operation-form.js';
import { performOperation } from './perform-operation.js';
import type { Brief, Showing } from './show-answer.js';

/** What a command of ours has beyond what follows from its operation. */
export interface Extra {
  /** What it does, where the contract's summary says too little. */
  readonly summary?: string;
  /** What arguments that name the thing are, by the names of their parameters. */
  readonly targets?: Readonly<Record<string, string>>;
  /** What members of the request are, where the contract's words do not fit the command. */
  readonly descriptions?: Readonly<Record<string, string>>;
  /** Its last arguments, in place of `key=value` pairs. */
  readonly rest?: Rest;
  readonly options?: readonly Option[];
  /** Members of the request that have no option of their own. */
  readonly hidden?: readonly string[];
  /** What people are shown of the data; `--full` shows all of it. */
  readonly brief?: (data: unknown) => Brief;
  /** Said after the answer, by what was typed. */
  readonly hint?: (options: ExtraTyped['options']) => string | undefined;
  readonly refine?: (
    request: OperationRequest,
    typed: ExtraTyped,
    server: Server,
  ) => Promise<OperationRequest>;
  /** Said after a refusal. */
  readonly advise?: (refusal: Refusal, refused: Refused) => Advice | Promise<Advice>;
}

type Advice = string | undefined;

export interface Refused {
  readonly request: OperationRequest;
  readonly typed: ExtraTyped;
  readonly server: Server;
}

interface Rest {
  readonly name: string;
  readonly description: string;
}

export interface ExtraTyped {
  readonly rest: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

interface TypedOptions extends ServerOptions, Showing {
  readonly body?: string;
  readonly clear?: string;
  readonly full?: true;
  readonly [name: string]: unknown;
}

/** Adds the command of one operation: its arguments and options follow from the contract. */
export function addOperationCommand(
  parent: Command,
  verb: string,
  rpc: RoutedRpc,
  context: CommandContext,
  extra: Extra = {},
): Command {
  const form = formOf(rpc);
  const rest = extra.rest ?? pairsOf(form);
  const command = parent.command(verb).description(extra.summary ?? inHelp(rpc.http.summary));
  addArguments(command, form, rest, extra.targets);
  const options = addOptions(command, form, extra);
  return command.action(async (...given: unknown[]) => {
    const typed = given.at(-2) as TypedOptions;
    const server = await serverFor(rpc, typed, context);
    const values = [...options].map(([name, option]) => [name, typed[option.attributeName()]]);
    const { last, ...texts } = splitArguments(given.slice(0, -2), form, rest !== undefined);
    const pairs = extra.rest === undefined ? last : [];
    const { body, clear } = typed;
    const everything: Typed = { ...texts, pairs, options: Object.fromEntries(values), body, clear };
    const request = await fillRequest(form, everything, server);
    const { json, all, full } = typed;
    const brief = full === true ? undefined : extra.brief;
    const asTyped = { rest: last, options: typed };
    const perform = async () => {
      const refined = (await extra.refine?.(request, asTyped, server)) ?? request;
      await performOperation(rpc, refined, { ...context, json, all, brief, server });
    };
    await perform().catch((error: Error) => explain(error, extra, { request, typed: asTyped, server }));
    const hint = extra.hint?.(typed);
    if (hint !== undefined && json !== true) context.note(hint);
  });
}

/** @throws the error, with what the command knows to say about it to people */
async function explain(error: Error, { advise }: Extra, refused: Refused): Promise<never> {
  if (!(error instanceof Refusal)) throw error;
  const advice = await Promise.resolve(advise?.(error, refused)).catch(() => undefined);
  if (advice !== undefined) error.message = `${error.message}\n${advice}`;
  throw error;
}

/** As the help of the commands of ours: a phrase. */
const inHelp = (summary: string): string =>
  summary.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());

const TARGETS: Readonly<Record<Target['kind'], string | undefined>> = {
  world: 'a world, by its id, its address or its name',
  deployment:
    'a deployment as WORLD/DEPLOYMENT, each by its id, its address or its name; or one of yours alone',
  query: undefined,
  other: undefined,
};

function addArguments(
  command: Command,
  form: OperationForm,
  rest: Rest | undefined,
  targets: Extra['targets'] = {},
): void {
  for (const { name, kind } of form.targets)
    command.addArgument(new Argument(`<${name}>`, TARGETS[kind] ?? targets[name]));
  // The body's file may have them, so none is required.
  for (const { name, description, choices } of form.named)
    command.addArgument(new Argument(`[${name}]`, described(description, choices)));
  if (rest !== undefined) command.addArgument(new Argument(`[${rest.name}...]`, rest.description));
}

const pairsOf = ({ open }: OperationForm): Rest | undefined =>
  open && { name: 'key=value', description: `members of the ${open.name}, as JSON or text` };

function splitArguments(texts: readonly unknown[], { targets, named }: OperationForm, hasRest: boolean) {
  const namedUntil = targets.length + named.length;
  return {
    targets: texts.slice(0, targets.length) as string[],
    named: texts.slice(targets.length, namedUntil) as (string | undefined)[],
    last: hasRest ? (texts[namedUntil] as string[]) : [],
  };
}

/** The options of members, by the members' names. */
function addOptions(
  command: Command,
  form: OperationForm,
  { options = [], hidden = [], brief, descriptions = {} }: Extra,
): ReadonlyMap<string, Option> {
  for (const option of options) command.addOption(option);
  const isShown = ({ name }: Member) => !hidden.includes(name);
  const inOurWords = (member: Member) => ({
    ...member,
    description: descriptions[member.name] ?? member.description,
  });
  const ofText = [...form.query, ...form.headers].filter(isShown);
  const ofBody = (form.bodyIsList ? [] : form.optional).filter(isShown).map(inOurWords);
  const made = new Map([
    ...ofText.map((member) => [member.name, textOption(member)] as const),
    ...ofBody.map((member) => [member.name, bodyOption(member)] as const),
  ]);
  for (const option of made.values()) command.addOption(option);
  if (form.body.length > 0)
    command.option('--body <file>', 'the whole body, in JSON or YAML; options add to it; - reads the input');
  if (form.body.some(({ nullable }) => nullable))
    command.option('--clear <names>', 'members of the body that become null, separated by commas');
  if (form.query.some(({ name }) => name === 'page')) command.option('--all', 'all pages');
  if (brief !== undefined) command.option('--full', 'show all of the data');
  withServerOptions(command).option('--json', 'print the data as JSON');
  return made;
}

/** `--key` is that of the server, on every command; the key of an operation's own is that of a timer. */
export const flagOf = (name: string): string => (name === 'key' ? 'timer-key' : toKebab(name));

function textOption({ name, kind, description, choices }: Member): Option {
  const flags = kind === 'flag' ? `--${flagOf(name)}` : `--${flagOf(name)} <${kind}>`;
  return new Option(flags, described(description, choices));
}

const HINTS: Readonly<Record<Member['kind'], string>> = {
  text: '<text>',
  number: '<number>',
  flag: '<true|false>',
  list: '<list>',
  json: '<file|json>',
  value: '<json>',
};

const bodyOption = ({ name, kind, description, choices }: Member): Option =>
  new Option(`--${flagOf(name)} ${HINTS[kind]}`, described(description, choices));

/** The server checks the choices, so that an older command knows no fewer. */
const described = (description: string, choices: readonly string[]): string =>
  [description, choices.length === 0 ? '' : `(${choices.join(', ')})`]
    .filter((part) => part !== '')
    .join(' ');

/** What strangers may ask needs no key. */
async function serverFor(rpc: RoutedRpc, options: ServerOptions, context: CommandContext): Promise<Server> {
  if (rpc.access.relation !== 'public') return serverOf(options, context);
  return { url: await urlOf(options, context), key: options.key ?? '' };
}
