import { didYouMean, requestPath, toNfc } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { Option } from 'commander';
import type { Server } from '../server/find-server.js';
import { Refusal } from '../server/refusal.js';
import type { OperationRequest } from './fill-request.js';
import type { Extra, ExtraTyped, Refused } from './operation-command.js';
import { readPairs } from './option-value.js';
import { askFor, operationNamed } from './perform-operation.js';

const TARGETS = {
  instanceId: 'an instance by its key, or as `schema:key`, as answers name it',
} as const;

const NAMED = { targets: TARGETS, advise: nearKey } as const;

/** What the commands of instances take beyond the contract. */
export const INSTANCE_EXTRAS: Readonly<Record<string, Extra>> = {
  'instances.get': { ...NAMED, refine: (request, _typed, server) => placed(request, server) },
  'instances.delete': { ...NAMED, refine: (request, _typed, server) => placed(request, server) },
  'instances.update': {
    ...NAMED,
    summary: 'change attributes of an entity instance (key=value, --unset) or replace its state (--state)',
    rest: { name: 'key=value', description: 'attributes to set, as JSON or text; the others stay' },
    options: [new Option('--unset <names>', 'attributes to remove, separated by commas')],
    descriptions: { state: 'the whole new state: attributes that it lacks are removed' },
    refine: async (request, typed, server) => merged(await placed(request, server), typed, server),
  },
};

interface Instance {
  readonly state: Readonly<Record<string, unknown>>;
  readonly revision: number;
}

/** @throws Refusal where there is none */
async function read({ params, query }: OperationRequest, server: Server): Promise<Instance> {
  return (await askFor(operationNamed('instances.get'), { params, query }, server)).data as Instance;
}

const isMissing = (error: unknown): boolean =>
  error instanceof Refusal && error.problem.code === 'entity_instance_not_found';

/** `horse:HORSE_1` is the key of an instance where there is one, as a key may hold a colon; else a schema and a key. */
async function placed(request: OperationRequest, server: Server): Promise<OperationRequest> {
  const { params, query } = request;
  const [, entitySchema, instanceId] = /^([^:]+):(.+)$/s.exec(params['instanceId'] ?? '') ?? [];
  if (entitySchema === undefined || instanceId === undefined || query['entitySchema'] !== undefined)
    return request;
  const isThere = await read(request, server).then(
    () => true,
    (error: unknown) => !isMissing(error),
  );
  if (isThere) return request;
  return { ...request, params: { ...params, instanceId }, query: { ...query, entitySchema } };
}

/**
 * Pairs and `--unset` change the state that was read, and it is written only where nothing else has changed it meanwhile.
 * @throws StartupError where the whole state is given as well, or an attribute is set and removed
 */
async function merged(
  request: OperationRequest,
  { rest, options }: ExtraTyped,
  server: Server,
): Promise<OperationRequest> {
  const body = request.body as { readonly state?: unknown } | undefined;
  const removed = namesIn(options['unset']);
  if (rest.length === 0 && removed.length === 0) return request;
  if (body?.state !== undefined)
    throw new StartupError(
      'The whole state replaces what is there: give it alone, or give what changes as key=value and --unset.',
    );
  const set = Object.fromEntries(
    Object.entries(readPairs(rest)).map(([name, value]) => [toNfc(name), value]),
  );
  const twice = removed.find((name) => Object.hasOwn(set, name));
  if (twice !== undefined) throw new StartupError(`"${twice}" is set and removed: decide for one.`);
  const { state, revision } = await read(request, server);
  const gone = removed.find((name) => !Object.hasOwn(state, name));
  if (gone !== undefined) throw new StartupError(`The instance has no attribute "${gone}" to remove.`);
  const kept = Object.entries(state).filter(([name]) => !removed.includes(name));
  return {
    ...request,
    headers: { 'if-match': `"${revision}"`, ...request.headers },
    body: { ...body, state: { ...Object.fromEntries(kept), ...set } },
  };
}

const namesIn = (given: unknown): string[] =>
  given === undefined
    ? []
    : String(given)
        .split(',')
        .map((name) => toNfc(name.trim()));

/** Instances whose keys are compared with the one that was given. */
const MAX_COMPARED = 100;

/** After a refusal: which key was meant, where one is near. */
async function nearKey(
  refusal: Refusal,
  { request: { params, query }, server }: Refused,
): Promise<string | undefined> {
  if (!isMissing(refusal)) return undefined;
  const limit = String(MAX_COMPARED);
  const list = operationNamed('instances.list');
  const { data } = await askFor(list, { params, query: { ...query, limit } }, server);
  const keys = (data as readonly { readonly instanceId: string }[]).map(({ instanceId }) => instanceId);
  const meant = didYouMean(params['instanceId'] ?? '', keys).trim();
  return meant || '`orrery instances list` shows the instances of the deployment.';
}

/** Of commands that name an entry of a journal: its `seq` may stand for its id. */
export const BY_ENTRY: Pick<Extra, 'targets' | 'refine'> = {
  targets: { historyId: 'an entry by its id (historyId), or by its seq, as `history list` shows it' },
  refine: (request, _typed, server) => withId(request, server),
};

/** An id is a UUID, so a whole number is a `seq`. @throws Refusal where the journal has no such entry */
async function withId(request: OperationRequest, server: Server): Promise<OperationRequest> {
  const { params } = request;
  const { historyId = '' } = params;
  if (!/^\d{1,15}$/.test(historyId)) return request;
  const seq = Number(historyId);
  const query = { include: 'all', limit: '1', after: String(seq + 1) };
  const { data } = await askFor(operationNamed('history.list'), { params, query }, server);
  const [entry] = data as readonly { readonly id: string; readonly seq: number }[];
  if (entry?.seq === seq) return { ...request, params: { ...params, historyId: entry.id } };
  const path = requestPath(operationNamed('history.get').http, params);
  const error = `The journal has no entry ${historyId}: its entries have a seq and a historyId.`;
  const problem = { status: 404, code: 'history_entry_not_found', error };
  throw new Refusal(server, { method: 'GET', path }, problem);
}
