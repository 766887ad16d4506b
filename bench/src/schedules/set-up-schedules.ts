import type { System } from '@orrery/testing/system';

/** Events of each deployment. */
const EVENTS = 20;
const AT_ONCE = 8;

/** A direct event that counts on an instance of its own; locked, so that nothing asks the catalog. */
const tick = (event: string, schedule: string) => ({
  name: event,
  firstVersion: {
    inputSchema: { n: 'integer' },
    stateChanges: { counter: 'partial' },
    mutationSettings: { mode: 'direct', template: { [`counter:${event}`]: { value: { $increment: 1 } } } },
    executionSettings: { visibility: 'cron', cron: { schedule, input: { n: '{{counter}}' } } },
  },
});

export interface ScheduledDeployments {
  /** Where an owner may execute the first event of a deployment, for load beside the schedules. */
  readonly executePaths: readonly string[];
}

/** Makes deployments whose events all have this schedule, `count` schedules in all. */
export async function setUpSchedules(
  { url, key }: System,
  count: number,
  schedule: string,
): Promise<ScheduledDeployments> {
  const post = async (path: string, body: unknown): Promise<{ address: string }> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`POST ${path} was answered ${answer.status}: ${text}`);
    return JSON.parse(text).data;
  };
  const { address: world } = await post('/worlds', { name: 'Schedules' });
  const attributes = [{ name: 'value', type: 'integer', defaultValue: 0 }];
  await post(`/worlds/${world}/entity-schemas`, { name: 'counter', attributes });
  const events = Array.from({ length: Math.min(EVENTS, count) }, (_, index) => `tick ${index}`);
  for (const event of events) {
    await post(`/worlds/${world}/events`, tick(event, schedule));
    await post(`/worlds/${world}/events/${encodeURIComponent(event)}/event-versions/1/lock`, {});
  }
  const bindings = events.map((event) => ({ event, eventVersion: 1 }));
  const addresses: string[] = [];
  let left = Math.ceil(count / events.length);
  const makeSome = async () => {
    while (left-- > 0) {
      const { address } = await post(`/worlds/${world}/deployments`, { name: 'Ticking', bindings });
      addresses.push(address);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, makeSome));
  const executePaths = addresses.map((address) => `/api/worlds/${world}/deployments/${address}/execute`);
  return { executePaths };
}
