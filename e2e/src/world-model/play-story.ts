import { canonicalJson, type JsonObject, type JsonValue } from '@orrery/contracts';
import fc from 'fast-check';
import { type ApiAnswer, type ApiClient, created } from '../api/api-client.js';
import { type Command, type Kind, type Of, type Story, story } from './arbitrary-command.js';

import { compareDeployment } from './compare-deployment.js';
import { foretell } from './foretell.js';
import { foretellDeployment } from './foretell-lifecycle.js';
import { type Foretold, type ModelDeployment, type ModelWorld, modelOf, seqBack } from './model.js';
import { schemaBody, versionBody, type WorldPlan } from './plan.js';

/** Plays a story against the service and the model side by side; throws at the first difference. */
export async function playStory(api: ApiClient, { world: plan, commands }: Story): Promise<void> {
  const model = modelOf(plan);
  const world = await makeWorld(api, plan);
  const bindings = ['e0', 'e1', 'e2'].map((event) => ({ event, eventVersion: 1 }));
  const first = created(await api.post(`${world}/deployments`, { name: 'First', bindings }));
  const paths = [`${world}/deployments/${first.address}`];
  foretellDeployment(model, { name: 'First', bindings });
  for (const [index, command] of commands.entries()) {
    const at = command.at % paths.length;
    const target = { world, deployment: paths[at] ?? '', model: deploymentAt(model, at) };
    const answer = await ask(api, target, command);
    compareAnswer(
      `command ${index} ${JSON.stringify(command)}`,
      answer,
      foretell(model, target.model, command),
    );
    if (command.kind === 'clone' && answer.status === 201)
      paths.push(`${world}/deployments/${answer.body.data.address}`);
  }
  for (const [at, path] of paths.entries()) await compareDeployment(api, path, deploymentAt(model, at));
}

function deploymentAt({ deployments }: ModelWorld, at: number) {
  const found = deployments[at];
  if (found === undefined) throw new RangeError(`the model has no deployment ${at}`);
  return found;
}

async function makeWorld(api: ApiClient, { schemas, events }: WorldPlan): Promise<string> {
  const world = `/worlds/${created(await api.post('/worlds', { name: 'Random' })).address}`;
  for (const schema of schemas) created(await api.post(`${world}/entity-schemas`, schemaBody(schema)));
  for (const [name, [first, ...others]] of Object.entries(events)) {
    created(await api.post(`${world}/events`, { name, firstVersion: first && versionBody(first) }));
    for (const plan of others)
      created(await api.post(`${world}/events/${name}/event-versions`, versionBody(plan)));
  }
  return world;
}

function compareAnswer(what: string, { status, body }: ApiAnswer, foretold: Foretold): void {
  const code = body.success ? null : body.code;
  if (status !== foretold.status || code !== foretold.code)
    throw new Error(
      `${what}\nforetold ${JSON.stringify(foretold)}\nanswered ${status} ${JSON.stringify(body)}`,
    );
  if (foretold.data === undefined) return;
  const shown = canonicalJson(restrict(body.data, foretold.data));
  if (shown !== canonicalJson(foretold.data))
    throw new Error(`${what}\nforetold ${canonicalJson(foretold.data)}\nanswered ${shown}`);
}

/** The members of an answer that the model speaks of: of objects at the top, and of those in a list there. */
export function restrict(found: JsonValue, foretold: JsonValue): JsonValue {
  if (Array.isArray(found) && Array.isArray(foretold))
    return found.map((one, index) => restrict(one, foretold[index] ?? null));
  if (!isObject(found) || !isObject(foretold)) return found;
  return Object.fromEntries(Object.keys(foretold).map((name) => [name, found[name] ?? null]));
}

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export interface StoriesOptions {
  readonly api: ApiClient;
  readonly stories: number;
  readonly commands: number;
  /** Played side by side: many small stories keep one system busy. */
  readonly lanes: number;
  /** Each lane's seed follows from it; a failure tells the seed and the path that repeat it. */
  readonly seed: number;
}

/** Plays random stories; rejects with the smallest that shows a difference between the service and the model. */
export async function playStories({ api, stories, commands, lanes, seed }: StoriesOptions): Promise<void> {
  const property = () => fc.asyncProperty(story(commands), (one) => playStory(api, one));
  const runs = Array.from({ length: lanes }, (_, lane) =>
    fc.assert(property(), { numRuns: Math.ceil(stories / lanes), seed: seed + lane }),
  );
  const failed = (await Promise.allSettled(runs)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** Where a command goes: paths below `/api`, and the deployment as the model knows it before the command. */
interface CommandTarget {
  readonly world: string;
  readonly deployment: string;
  readonly model: ModelDeployment;
}

/** How a user sends each kind of step. */
const REQUESTS: {
  readonly [One in Kind]: (api: ApiClient, target: CommandTarget, step: Of<One>) => Promise<ApiAnswer>;
} = {
  execute: (api, { deployment }, { event, input, dryRun, key }) =>
    api.post(
      `${deployment}/execute${dryRun ? '?dryRun=true' : ''}`,
      { event, input },
      key === null ? {} : { 'idempotency-key': key },
    ),
  create: (api, { deployment }, { schema: entitySchema, id: instanceId, state }) =>
    api.post(`${deployment}/entity-instances`, { entitySchema, instanceId, state }),
  replace: (api, { deployment, model }, step) =>
    api.put(instancePath(deployment, step), { state: step.state }, matching(step, model)),
  remove: (api, { deployment }, step) => api.delete(instancePath(deployment, step)),
  look: (api, { deployment, model }, step) =>
    api.get(`${instancePath(deployment, step)}&atSeq=${seqBack(model.entries.length, step.back)}`),
  bind: (api, { deployment }, { bindings }) => api.post(`${deployment}/event-bindings`, bindings),
  rebind: (api, { deployment }, { bindings }) => api.put(`${deployment}/event-bindings`, bindings),
  unbind: (api, { deployment }, { event }) => api.delete(`${deployment}/event-bindings?event=${event}`),
  turn: (api, { deployment }, { action }) => api.post(`${deployment}/${action}`),
  rename: (api, { deployment }, { name }) => api.put(deployment, { name }),
  end: (api, { deployment }) => api.delete(deployment),
  clone: (api, { world, deployment, model }, step) =>
    api.post(`${world}/deployments`, cloneBody(deployment, model, step)),
  redefine: (api, { world }, { event, version, plan }) =>
    api.put(`${world}/events/${event}/event-versions/${version}`, versionBody(plan)),
};

function ask(api: ApiClient, target: CommandTarget, step: Command): Promise<ApiAnswer> {
  const send: (api: ApiClient, target: CommandTarget, step: never) => Promise<ApiAnswer> =
    REQUESTS[step.kind];
  return send(api, target, step as never);
}

const instancePath = (deployment: string, { id, schema }: { id: string; schema: string | null }): string =>
  `${deployment}/entity-instances/${encodeURIComponent(id)}${schema === null ? '' : `?entitySchema=${schema}`}`;

/** The revision of the instance that is meant, as the model knows it, or another one. */
function matching(
  { match, schema, id }: Of<'replace'>,
  { instances }: ModelDeployment,
): Record<string, string> {
  if (match === 'none') return {};
  const names = schema === null ? ['ship', 'port'] : [schema];
  const revision = names
    .map((name) => instances.get(`${name}:${id}`)?.revision)
    .find((one) => one !== undefined);
  return { 'if-match': `"${match === 'right' ? (revision ?? 1) : (revision ?? 0) + 7}"` };
}

const cloneBody = (
  deployment: string,
  { entries }: ModelDeployment,
  { back, mode, explicit }: Of<'clone'>,
) => ({
  name: 'Clone',
  mode,
  bindings: explicit ? [{ event: 'e0', eventVersion: 1 }] : [],
  sourceDeployment: deployment.split('/').at(-1),
  ...(back !== null && { sourceSeq: seqBack(entries.length, back) }),
});
