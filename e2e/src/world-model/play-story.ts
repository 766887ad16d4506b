import { canonicalJson, type JsonObject, type JsonValue } from '@orrery/contracts';
import type { ApiAnswer, ApiClient } from '../api-client.js';
import { created } from '../created.js';
import type { Story } from './arbitrary-story.js';
import { ask } from './ask.js';
import { compareDeployment } from './compare-deployment.js';
import { foretell } from './foretell.js';
import { foretellDeployment } from './foretell-lifecycle.js';
import { type Foretold, type ModelWorld, modelOf } from './model.js';
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
    const place = { world, deployment: paths[at] ?? '', model: deploymentAt(model, at) };
    const answer = await ask(api, place, command);
    compareAnswer(
      `command ${index} ${JSON.stringify(command)}`,
      answer,
      foretell(model, place.model, command),
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
