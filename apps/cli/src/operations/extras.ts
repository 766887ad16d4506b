import { StartupError } from '@orrery/service-kit';
import { Option } from 'commander';
import { askAt } from '../server/ask-server.js';
import type { Server } from '../server/find-server.js';
import { BY_ENTRY, INSTANCE_EXTRAS } from './instance-extras.js';
import type { Extra, ExtraTyped } from './operation-command.js';
import { optionValue } from './option-value.js';
import { listAll } from './references.js';
import type { Brief } from './show-answer.js';

interface Binding {
  readonly event: string;
  readonly eventVersion: number;
}

const BINDINGS = {
  name: 'event@version',
  description: 'events to bind; without @version the latest one',
};

/** What builders need beyond the contract. */
export const EXTRAS: Readonly<Record<string, Extra>> = {
  'deployments.execute': {
    options: [new Option('--async', 'do not wait: answer an executionId at once')],
    hidden: ['prefer'],
    brief: withoutTexts,
    refine: async (request, { options }) =>
      options['async'] === true
        ? { ...request, headers: { ...request.headers, prefer: 'respond-async' } }
        : request,
  },
  ...INSTANCE_EXTRAS,
  'history.get': BY_ENTRY,
  'pushes.retry': BY_ENTRY,
  'pushes.skip': BY_ENTRY,
  'webhooks.update': {
    // `--url` names the server.
    hidden: ['url'],
    options: [new Option('--to <url>', 'where entries are sent from now on')],
    refine: async (request, { options }) =>
      options['to'] === undefined
        ? request
        : { ...request, body: { ...(request.body as object | undefined), url: options['to'] } },
  },
  'history.list': {
    hint: (options) =>
      HISTORY_FILTERS.some((name) => options[name] !== undefined)
        ? undefined
        : 'Executions alone: --include all lists the rest of the journal too, such as written instances and settings.',
  },
  'deployments.create': {
    rest: BINDINGS,
    advise: notAVersion,
    options: [new Option('--bind-all', 'bind all events of the world, each in its latest version')],
    refine: async (request, typed, server) => {
      const body = request.body as { readonly bindings?: readonly unknown[] };
      const bindings = [...(body.bindings ?? []), ...(await bindingsOf(request.params, typed, server))];
      return { ...request, body: { ...body, bindings } };
    },
  },
  'bindings.add': listOfBindings('events to bind; without @version the latest one', bindingsOf),
  'bindings.update': listOfBindings('bound events; without @version they keep theirs', changesOf),
};

const HISTORY_FILTERS = ['include', 'event', 'status', 'trigger', 'instance'];

/** A dry run that a model decided, without the texts that were exchanged with it: they fill screens. */
function withoutTexts(answer: unknown): Brief {
  const { prompt, llm, ...rest } = answer as DecidedByModel;
  if (!prompt || !llm) return { data: answer };
  const { model, attempts, usage, latencyMs } = llm;
  const characters = JSON.stringify({ prompt, llm }).length;
  return {
    data: { ...rest, llm: { model, attempts: attempts.length, usage, latencyMs } },
    note: `The prompt and what the model answered are left out, ${characters} characters: --full shows them.`,
  };
}

interface DecidedByModel {
  readonly prompt?: object | null;
  readonly llm?: {
    readonly model: string;
    readonly attempts: readonly unknown[];
    readonly usage: unknown;
    readonly latencyMs: number;
  } | null;
}

/** `--target-chains` holds for each event that is named. */
function listOfBindings(description: string, read: ReadBindings): Extra {
  return {
    rest: { ...BINDINGS, description },
    advise: notAVersion,
    options: [
      new Option('--target-chains <list>', 'chains that results are pushed to, separated by commas'),
      new Option('--onchain <file|json>', 'what of the results is pushed'),
    ],
    refine: async (request, typed, server) => {
      const { targetChains, onchain } = typed.options as { targetChains?: string; onchain?: string };
      const more = {
        ...(targetChains !== undefined && {
          targetChains: await optionValue({ name: 'targetChains', kind: 'list' }, targetChains),
        }),
        ...(onchain !== undefined && {
          onchain: await optionValue({ name: 'onchain', kind: 'json' }, onchain),
        }),
      };
      const named = await read(request.params, typed, server);
      const given = (request.body ?? []) as readonly object[];
      return { ...request, body: [...given, ...named].map((binding) => ({ ...binding, ...more })) };
    },
  };
}

async function bindingsOf(
  { worldAddress }: Readonly<Record<string, string>>,
  { rest, options }: ExtraTyped,
  server: Server,
): Promise<Binding[]> {
  const events = `/worlds/${worldAddress}/events`;
  if (options['bindAll'] === true) {
    if (rest.length > 0) throw new StartupError('Name events or give --bind-all, not both.');
    const all = await listAll<{ name: string; latestVersion: number | null }>(server, events);
    return all.map(({ name, latestVersion }) => ({
      event: name,
      eventVersion: versionOf(name, latestVersion),
    }));
  }
  return Promise.all(rest.map((text) => bindingOf(text, events, server)));
}

type ReadBindings = (
  params: Readonly<Record<string, string>>,
  typed: ExtraTyped,
  server: Server,
) => Promise<Partial<Binding>[]>;

async function changesOf(_params: unknown, { rest }: ExtraTyped): Promise<Partial<Binding>[]> {
  return rest.map((text) => versionNamed(text) ?? { event: text });
}

/** `training@2`; a name may hold an `@`. */
function versionNamed(text: string): Binding | undefined {
  const [, event, version] = /^(.+)@(\d+)$/.exec(text) ?? [];
  return event === undefined ? undefined : { event, eventVersion: Number(version) };
}

/** After a refusal of `race@one`: a name may hold an `@`, so it was asked for. */
function notAVersion(_refusal: unknown, { typed }: { readonly typed: ExtraTyped }): string | undefined {
  const [, event, version] = typed.rest.map((text) => /^(.+)@([^@]+)$/.exec(text)).find(isNoVersion) ?? [];
  return version && `"${version}" is no version number: ${event}@1 is version 1 of "${event}".`;
}

const isNoVersion = (parts: RegExpExecArray | null): boolean =>
  parts !== null && !/^\d+$/.test(parts[2] ?? '');

async function bindingOf(text: string, events: string, server: Server): Promise<Binding> {
  const named = versionNamed(text);
  if (named !== undefined) return named;
  const { data } = await askAt(server, 'GET', `${events}/${encodeURIComponent(text)}`);
  return {
    event: text,
    eventVersion: versionOf(text, (data as { latestVersion: number | null }).latestVersion),
  };
}

function versionOf(event: string, latestVersion: number | null): number {
  if (latestVersion !== null) return latestVersion;
  throw new StartupError(`The event ${event} has no version: create one first.`);
}
