import type { System } from '@orrery/testing/system';

/** What the owner of a system may do: POST below `/api`. @throws Error for an answer without success */
export const poster =
  ({ url, key }: Pick<System, 'url' | 'key'>) =>
  async (path: string, body: unknown = {}): Promise<{ address: string }> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`POST ${path} was answered ${answer.status}: ${text}`);
    return JSON.parse(text).data;
  };

type Post = ReturnType<typeof poster>;
const AT_ONCE = 16;

interface WorldToSetUp {
  readonly count: number;
  readonly events: readonly { readonly name: string; readonly firstVersion: object }[];
  /** Left unlocked, a definition is confirmed with the catalog for each batch of executions, since it may change. */
  readonly isDraft?: boolean;
  /** Chains that the executions are pushed to. */
  readonly targetChains?: readonly string[];
  /** What each deployment needs beside its bindings. */
  readonly prepare?: (post: Post, deployment: string) => Promise<unknown>;
}

/** Makes a world whose events count, and deployments with all of them bound; answers the paths to execute at. */
async function setUpWorld(system: System, options: WorldToSetUp): Promise<string[]> {
  const { count, events, isDraft = false, targetChains = [], prepare } = options;
  const post = poster(system);
  const world = `/worlds/${(await post('/worlds', { name: 'Counters' })).address}`;
  const attributes = [{ name: 'value', type: 'integer', defaultValue: 0 }];
  await post(`${world}/entity-schemas`, { name: 'counter', attributes });
  for (const event of events) {
    await post(`${world}/events`, event);
    if (!isDraft) await post(`${world}/events/${encodeURIComponent(event.name)}/event-versions/1/lock`);
  }
  const bindings = events.map(({ name }) => ({ event: name, eventVersion: 1, targetChains }));
  const paths: string[] = [];
  let left = count;
  const makeSome = async () => {
    while (left-- > 0) {
      const { address } = await post(`${world}/deployments`, { name: 'Counter', bindings });
      await prepare?.(post, `${world}/deployments/${address}`);
      paths.push(`/api${world}/deployments/${address}/execute`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, makeSome));
  return paths;
}

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

/** An execution of it. */
export const TICK = { event: 'tick', input: { id: 'one', by: 1 } };

/** Public deployments of it with one instance each. */
export const setUpDeployments = (
  system: System,
  options: Pick<WorldToSetUp, 'count' | 'isDraft' | 'targetChains'>,
): Promise<string[]> =>
  setUpWorld(system, {
    ...options,
    events: [tick],
    prepare: async (post, deployment) => {
      await post(`${deployment}/entity-instances`, { entitySchema: 'counter', instanceId: 'one' });
      await post(`${deployment}/publish`);
    },
  });

/** Where the instance is read that an execution at this path changes. */
export const instancePath = (executePath: string): string =>
  executePath.replace(/execute$/, 'entity-instances/one');

/** The address in such a path. */
export const addressIn = (executePath: string): string => executePath.split('/').at(-2) ?? '';

/** Gives a player a point. */
const point = {
  name: 'point',
  firstVersion: {
    inputSchema: { player: 'string' },
    readEntities: [{ schema: 'player', filter: ['player'] }],
    stateChanges: { player: 'partial' },
    mutationSettings: {
      mode: 'direct',
      template: { 'player:{{input.player}}': { score: { $increment: 1 } } },
    },
  },
};

/** Executions of it, each for another player. */
export const POINTS = Array.from({ length: 256 }, (_, n) => ({
  event: 'point',
  input: { player: `player ${n}` },
}));

/** A deployment with `count` players, no two of them with the same score. Answers its path. */
export async function setUpLeaderboard(
  system: System,
  count: number,
  { indexed }: { readonly indexed: boolean },
): Promise<string> {
  const post = poster(system);
  const world = `/worlds/${(await post('/worlds', { name: 'Players' })).address}`;
  const attributes = [{ name: 'score', type: 'integer', indexed }];
  await post(`${world}/entity-schemas`, { name: 'player', attributes });
  await post(`${world}/events`, point);
  await post(`${world}/events/point/event-versions/1/lock`);
  const bindings = [{ event: 'point', eventVersion: 1 }];
  const { address } = await post(`${world}/deployments`, { name: 'Leaderboard', bindings });
  const deployment = `${world}/deployments/${address}`;
  let next = 0;
  const makeSome = async () => {
    for (let index = next++; index < count; index = next++) {
      // A prime step spreads the scores.
      const state = { score: (index * 7919) % count };
      const instance = { entitySchema: 'player', instanceId: `player ${index}`, state };
      await post(`${deployment}/entity-instances`, instance);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, makeSome));
  return `/api${deployment}`;
}

/** Events of each deployment with schedules. */
const EVENTS = 20;

/** Counts on an instance of its own. */
const scheduledTick = (name: string, schedule: string) => ({
  name,
  firstVersion: {
    inputSchema: { n: 'integer' },
    stateChanges: { counter: 'partial' },
    mutationSettings: { mode: 'direct', template: { [`counter:${name}`]: { value: { $increment: 1 } } } },
    executionSettings: { visibility: 'cron', cron: { schedule, input: { n: '{{counter}}' } } },
  },
});

/** An execution of the first event of each such deployment by its owner, beside the schedules. */
export const SCHEDULED_TICK = { event: 'tick 0', input: { n: 0 } };

/** Deployments whose events all have this schedule, `schedules` of them in all. */
export function setUpSchedules(system: System, schedules: number, schedule: string): Promise<string[]> {
  const names = Array.from({ length: Math.min(EVENTS, schedules) }, (_, index) => `tick ${index}`);
  const events = names.map((name) => scheduledTick(name, schedule));
  return setUpWorld(system, { count: Math.ceil(schedules / events.length), events });
}
