import { apiClient } from '../../api/api-client.js';
import { counterWorld } from '../../worlds/counter-world.js';
import { followingWorld } from '../../worlds/following-world.js';
import { counting, makeWorld } from '../../worlds/make-world.js';
import { publicWorld } from '../../worlds/public-world.js';
import { scheduledWorld } from '../../worlds/scheduled-world.js';
import { RECEIVER, sellToasts } from '../../worlds/toasts.js';

/** The deployments that the load goes to, as paths below `/api`. */
export interface Worlds {
  readonly counting: readonly string[];
  /** Those whose executions are pushed to the chain. */
  readonly pushed: readonly string[];
  readonly judged: readonly string[];
  /** Public ones, which sell an event. */
  readonly open: readonly string[];
  readonly scheduled: readonly string[];
  /** Those whose executions have follow-ups. */
  readonly following: readonly string[];
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
  const schemas = [counting('counter', 'value')];
  const judged = await makeWorld(api, { name: 'Judged', schemas, events: [judge] });
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
    judged: await many(async () => (await judged.deploy()).path),
    open: await many(open),
    following: await many((await followingWorld(api)).deploy),
    scheduled: await many((await scheduledWorld(api, '* * * * *')).deploy),
  };
}
