import { type ApiClient, apiClient } from '../../api-client.js';
import { created } from '../../created.js';
import { counterWorld } from '../../load/counter-world.js';
import { publicWorld } from '../../public/public-world.js';
import { RECEIVER, sellToasts } from '../../public/toasts.js';
import { scheduledWorld } from '../../schedules/scheduled-world.js';

/** The deployments that the load goes to, as paths below `/api`. */
export interface Worlds {
  readonly counting: readonly string[];
  /** Those whose executions are pushed to the chain. */
  readonly pushed: readonly string[];
  readonly judged: readonly string[];
  /** Public ones, which sell an event. */
  readonly open: readonly string[];
  readonly scheduled: readonly string[];
}

const judge = {
  name: 'judge',
  firstVersion: {
    inputSchema: { operation: 'integer' },
    outputSchema: { operation: 'integer' },
    stateChanges: { counter: 'partial' },
    readEntities: [{ schema: 'counter' }],
    behaviorPrompt: 'The counter AI gets the number of the operation, which is the result, too.',
  },
};

export async function makeWorlds(url: string, key: string, each: number): Promise<Worlds> {
  const api = apiClient(url, key);
  const many = async (make: () => Promise<string>): Promise<string[]> => {
    const made: string[] = [];
    for (let number = 0; number < each; number += 1) made.push(await make());
    return made;
  };
  const { deploy } = await counterWorld(api);
  const deployPushed = async () => {
    const path = await deploy();
    await api.put(`${path}/event-bindings`, [{ event: 'count', targetChains: ['local'] }]);
    return path;
  };
  const open = async () => {
    const world = await publicWorld(api);
    await sellToasts(api, world, RECEIVER);
    return world.path;
  };
  return {
    counting: await many(deploy),
    pushed: await many(deployPushed),
    judged: await many(await judgedWorld(api)),
    open: await many(open),
    scheduled: await many((await scheduledWorld(api, '* * * * *')).deploy),
  };
}

async function judgedWorld(api: ApiClient): Promise<() => Promise<string>> {
  const world = `/worlds/${created(await api.post('/worlds', { name: 'Judged' })).address}`;
  const attributes = [{ name: 'value', type: 'integer', defaultValue: 0 }];
  created(await api.post(`${world}/entity-schemas`, { name: 'counter', attributes }));
  created(await api.post(`${world}/events`, judge));
  return async () => {
    const bindings = [{ event: 'judge', eventVersion: 1 }];
    const { address } = created(await api.post(`${world}/deployments`, { name: 'Judge', bindings }));
    return `${world}/deployments/${address}`;
  };
}
