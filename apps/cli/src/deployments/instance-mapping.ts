import { toNfc } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import type { Command } from 'commander';
import { groupOf } from '../operations/operations-commands.js';
import { readPairs } from '../operations/option-value.js';
import { type DeploymentReference, findDeployment } from '../operations/references.js';
import { askAt, warningText } from '../server/ask-server.js';
import { type Server, type ServerOptions, serverOf, withServerOptions } from '../server/find-server.js';
import type { CommandContext } from '../terminal/context.js';

/** The answer of one request: docs/schemas.md "When a schema changes". */
interface Counted {
  readonly lookedAt: number;
  readonly unfit: number;
  readonly mappable?: number;
  readonly mapped?: number;
  readonly misfits: readonly {
    readonly instanceId: string;
    readonly problems: readonly { pointer: string; code: string; message: string }[];
  }[];
  readonly next: string | null;
}

/** What all requests counted; `misfits` are the first ones. */
export type Totals = Omit<Counted, 'next'>;

/** Sends the request until no instances are left; `onPage` hears of each answer. @throws Refusal */
export async function throughInstances(
  server: Server,
  { worldAddress, address }: DeploymentReference,
  verb: 'check' | 'map',
  body: { readonly cursor?: string | undefined } & object,
  onPage: (page: Counted) => void = () => undefined,
): Promise<Totals> {
  const path = `/worlds/${worldAddress}/deployments/${address}/entity-instances/${verb}`;
  let totals: Totals = { lookedAt: 0, unfit: 0, misfits: [] };
  let { cursor } = body;
  do {
    const { data } = await askAt(server, 'POST', path, { ...body, ...(cursor && { cursor }) });
    const page = data as Counted;
    totals = added(totals, page);
    onPage(page);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return totals;
}

const SHOWN = 20;

function added(before: Totals, page: Counted): Totals {
  const sum = (name: 'mappable' | 'mapped') =>
    page[name] === undefined ? {} : { [name]: (before[name] ?? 0) + page[name] };
  return {
    lookedAt: before.lookedAt + page.lookedAt,
    unfit: before.unfit + page.unfit,
    ...sum('mappable'),
    ...sum('mapped'),
    misfits: [...before.misfits, ...page.misfits].slice(0, SHOWN),
  };
}

interface MappingOptions extends ServerOptions {
  readonly unset?: string;
  readonly where?: string;
  readonly defaults?: true;
  readonly cursor?: string;
  readonly dryRun?: true;
  readonly json?: true;
}

/** `orrery instances check|map`: instances that do not satisfy their schema, all of them, request by request. */
export function addInstanceMappingCommands(program: Command, context: CommandContext): void {
  const instances = groupOf(program, 'instances');
  const check = instances
    .command('check')
    .description('count the instances that do not satisfy their schema, and try what would make them');
  const map = instances
    .command('map')
    .description('make instances satisfy their schema: new values of attributes from the old ones')
    .option('--dry-run', 'count what would be mapped, and write nothing');
  for (const [command, verb] of [
    [check, 'check'],
    [map, 'map'],
  ] as const)
    withServerOptions(command)
      .argument('<deployment>', 'a deployment as WORLD/DEPLOYMENT, or one of yours alone')
      .argument('<schema>', 'an entity schema by its name')
      .argument('[attribute=value...]', 'new values, in which {{ … }} holds CEL over `instance` and `id`')
      .option('--unset <names>', 'attributes to remove, separated by commas')
      .option('--where <condition>', 'map what satisfies this CEL condition, too; it sees defaults as stored')
      .option('--defaults', 'fill in the defaults of the schema where they are not stored, too')
      .option('--cursor <cursor>', 'go on where another run stopped')
      .option('--json', 'print the counts as JSON')
      .action((deployment: string, schema: string, pairs: string[], options: MappingOptions) =>
        mapAll(verb, { deployment, schema, pairs }, options, context),
      );
}

interface Asked {
  readonly deployment: string;
  readonly schema: string;
  readonly pairs: readonly string[];
}

async function mapAll(
  verb: 'check' | 'map',
  { deployment, schema, pairs }: Asked,
  { unset, where, defaults, cursor, dryRun, json, ...options }: MappingOptions,
  context: CommandContext,
): Promise<void> {
  const mapping = mappingOf(pairs, unset) ?? (defaults && {});
  if (verb === 'map' && mapping === undefined)
    throw new StartupError(
      "Say what to write, as in `'victories={{ instance.wins }}' --unset wins`, or `--defaults`.",
    );
  const server = await serverOf(options, context);
  const reference = await findDeployment(server, deployment);
  const body = {
    entitySchema: schema,
    ...(mapping && { mapping }),
    ...(where !== undefined && { where }),
    ...(defaults && { fillDefaults: true }),
    cursor,
  };
  let goesOn: string | null = null;
  const onPage = ({ next, mapped }: Counted) => {
    goesOn = next;
    if (next !== null && mapped !== undefined && json !== true) context.note(`${mapped} mapped …`);
  };
  const isWriting = verb === 'map' && dryRun !== true;
  const totals = await throughInstances(server, reference, isWriting ? 'map' : 'check', body, onPage).catch(
    (error: Error) => {
      if (goesOn !== null) context.note(`What was mapped stays so: --cursor ${goesOn} goes on here.`);
      throw error;
    },
  );
  if (json === true) return context.write(JSON.stringify(totals, null, 2));
  context.write(totalsText(totals, { where, defaults }));
  for (const { instanceId, problems } of totals.misfits)
    for (const problem of problems)
      context.note(warningText(problem, `${schema}:${instanceId}${problem.pointer}`));
}

/** @throws StartupError for what is no pair, or a name that is set and removed */
function mappingOf(pairs: readonly string[], unset: string | undefined): object | undefined {
  const set = readPairs(pairs);
  const removed = (unset ?? '')
    .split(',')
    .flatMap((name) => (name.trim() === '' ? [] : [toNfc(name.trim())]));
  const twice = removed.find((name) => Object.hasOwn(set, name));
  if (twice !== undefined) throw new StartupError(`"${twice}" is set and removed: decide for one.`);
  const mapping = { ...set, ...Object.fromEntries(removed.map((name) => [name, null])) };
  return Object.keys(mapping).length === 0 ? undefined : mapping;
}

/** What was counted, as a sentence. */
function totalsText(
  { lookedAt, unfit, mapped, mappable = 0 }: Totals,
  { where, defaults }: { readonly where: string | undefined; readonly defaults: true | undefined },
): string {
  const selecting = [
    'did not satisfy the schema',
    ...(where === undefined ? [] : ['satisfied the condition']),
    ...(defaults ? ['lacked defaults'] : []),
  ];
  const all = `${unfit} of ${lookedAt} instances ${selecting.join(' or ')}`;
  if (mapped !== undefined) return `${all}, and ${mapped} of them were mapped.`;
  return mappable > 0 ? `${all}, and ${mappable} of them would be mapped.` : `${all}.`;
}
