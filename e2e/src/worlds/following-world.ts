import { type ApiClient, created } from '../api/api-client.js';
import { counting, makeWorld } from './make-world.js';

const changes = { 'counter:C': { value: { $increment: 1 } } };
const direct = (template: object) => ({ mode: 'direct', template: { stateChanges: changes, ...template } });

/** Sets one follow-up, which says by which version it was set. */
const lead = (version: number) => ({
  inputSchema: { operation: 'integer' },
  stateChanges: { counter: 'partial' },
  mutationSettings: direct({ result: { operation: '{{input.operation}}' } }),
  followUps: [
    { event: 'follow', input: { leader: '{{input.operation}}', led: version }, after: `PT${version}S` },
  ],
});

/** Says which version of it was executed. */
const follow = (version: number) => ({
  inputSchema: { leader: 'integer', led: 'integer' },
  stateChanges: { counter: 'partial' },
  mutationSettings: direct({ result: { by: version } }),
});

/** A world whose executions have follow-ups. Both events have two versions, of which the first ones are bound. */
export async function followingWorld(api: ApiClient): Promise<{ deploy: () => Promise<string> }> {
  const events = [
    { name: 'lead', firstVersion: lead(1) },
    { name: 'follow', firstVersion: follow(1) },
  ];
  const schemas = [counting('counter', 'value')];
  const { path, deploy } = await makeWorld(api, { name: 'Following', schemas, events });
  created(await api.post(`${path}/events/lead/event-versions`, lead(2)));
  created(await api.post(`${path}/events/follow/event-versions`, follow(2)));
  return { deploy: async () => (await deploy()).path };
}
