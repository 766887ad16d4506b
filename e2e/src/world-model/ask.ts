import type { ApiAnswer, ApiClient } from '../api-client.js';
import type { Command } from './command.js';
import { lookedAt } from './foretell-writes.js';
import type { ModelDeployment } from './model.js';
import { versionBody } from './plan.js';

/** Where a command goes: paths below `/api`, and the deployment as the model knows it before the command. */
export interface Place {
  readonly world: string;
  readonly deployment: string;
  readonly model: ModelDeployment;
}

/** Sends a command as a user would. */
export function ask(api: ApiClient, { world, deployment, model }: Place, step: Command): Promise<ApiAnswer> {
  const instances = `${deployment}/entity-instances`;
  const bindings = `${deployment}/event-bindings`;
  switch (step.kind) {
    case 'execute': {
      const { event, input, dryRun, key } = step;
      const headers = key === null ? {} : { 'idempotency-key': key };
      return api.post(`${deployment}/execute${dryRun ? '?dryRun=true' : ''}`, { event, input }, headers);
    }
    case 'create':
      return api.post(instances, { entitySchema: step.schema, instanceId: step.id, state: step.state });
    case 'replace':
      return api.put(instancePath(instances, step), { state: step.state }, matching(step, model));
    case 'remove':
      return api.delete(instancePath(instances, step));
    case 'look': {
      const atSeq = lookedAt(model.entries.length, step.back);
      return api.get(`${instancePath(instances, step)}&atSeq=${atSeq}`);
    }
    case 'bind':
      return api.post(bindings, step.bindings);
    case 'rebind':
      return api.put(bindings, step.bindings);
    case 'unbind':
      return api.delete(`${bindings}?event=${step.event}`);
    case 'turn':
      return api.post(`${deployment}/${step.action}`);
    case 'rename':
      return api.put(deployment, { name: step.name });
    case 'end':
      return api.delete(deployment);
    case 'clone':
      return api.post(`${world}/deployments`, cloneBody(deployment, model, step));
    case 'redefine':
      return api.put(`${world}/events/${step.event}/event-versions/${step.version}`, versionBody(step.plan));
  }
}

const instancePath = (instances: string, { id, schema }: { id: string; schema: string | null }): string =>
  `${instances}/${encodeURIComponent(id)}${schema === null ? '' : `?entitySchema=${schema}`}`;

/** The revision of the instance that is meant, as the model knows it, or another one. */
function matching(
  { match, schema, id }: Extract<Command, { kind: 'replace' }>,
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
  { back, mode, explicit }: Extract<Command, { kind: 'clone' }>,
) => ({
  name: 'Clone',
  mode,
  bindings: explicit ? [{ event: 'e0', eventVersion: 1 }] : [],
  sourceDeployment: deployment.split('/').at(-1),
  ...(back !== null && { sourceSeq: lookedAt(entries.length, back) }),
});
