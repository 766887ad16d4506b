import type { System } from '@orrery/testing/system';

/** One event that reads an instance and counts on it. */
const tick = {
  name: 'tick',
  firstVersion: {
    inputSchema: { id: 'string', by: 'integer' },
    readEntities: [{ schema: 'counter', filter: ['id'] }],
    executionSettings: { visibility: 'public' },
    stateChanges: { counter: 'partial' },
    mutationSettings: {
      mode: 'direct',
      template: { 'counter:{{input.id}}': { value: '{{ entities.counter[input.id].value + input.by }}' } },
    },
  },
};
const AT_ONCE = 16;

/** Where the instance is read that an execution at this path changes. */
export const instancePath = (executePath: string): string =>
  executePath.replace(/execute$/, 'entity-instances/one');

/** The address in such a path. */
export const addressIn = (executePath: string): string => executePath.split('/').at(-2) ?? '';

export interface DeploymentsToSetUp {
  readonly count: number;
  /** Left unlocked, a definition is confirmed with the catalog for each batch of executions, since it may change. */
  readonly isDraft: boolean;
  /** Chains that the executions are pushed to. */
  readonly targetChains?: readonly string[];
}

/** Makes a world and deployments with one instance each; answers the paths to execute at. */
export async function setUpDeployments(
  system: System,
  { count, isDraft, targetChains = [] }: DeploymentsToSetUp,
): Promise<string[]> {
  const post = poster(system);
  const { address: world } = await post('/api/worlds', { name: 'Counters' });
  const attributes = [{ name: 'value', type: 'integer', defaultValue: 0 }];
  await post(`/api/worlds/${world}/entity-schemas`, { name: 'counter', attributes });
  await post(`/api/worlds/${world}/events`, tick);
  if (!isDraft) await post(`/api/worlds/${world}/events/tick/event-versions/1/lock`, {});
  const paths: string[] = [];
  const makeSome = async () => {
    while (paths.length < count) {
      const place = paths.push('') - 1;
      const bindings = [{ event: 'tick', eventVersion: 1, targetChains }];
      const { address } = await post(`/api/worlds/${world}/deployments`, { name: 'Counter', bindings });
      const path = `/api/worlds/${world}/deployments/${address}`;
      await post(`${path}/entity-instances`, { entitySchema: 'counter', instanceId: 'one' });
      await post(`${path}/publish`, {});
      paths[place] = `${path}/execute`;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, makeSome));
  return paths;
}

function poster({ url, key }: System) {
  return async (path: string, body: unknown): Promise<{ address: string }> => {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`POST ${path} was answered ${answer.status}: ${text}`);
    return JSON.parse(text).data;
  };
}
