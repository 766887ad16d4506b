import type { ApiClient } from '../api-client.js';
import { created } from '../created.js';

/** Counts on an instance, and answers what the schedule gave it. */
const lap = (schedule: string) => ({
  inputSchema: { lap: 'integer', due: 'string' },
  stateChanges: { track: 'partial' },
  mutationSettings: {
    mode: 'direct',
    template: {
      stateChanges: { 'track:oval': { laps: { $increment: 1 } } },
      result: { lap: '{{input.lap}}', due: '{{input.due}}' },
    },
  },
  executionSettings: {
    visibility: 'cron',
    cron: { schedule, input: { lap: '{{counter}}', due: '{{scheduledAt}}' } },
  },
});

export interface ScheduledWorld {
  /** Makes a deployment with the event `lap` bound; answers its path below `/api`. */
  deploy(): Promise<string>;
  /** Makes the next version of the event, with another schedule. */
  version(schedule: string): Promise<number>;
}

/** A world with an event `lap` that has this schedule. */
export async function scheduledWorld(api: ApiClient, schedule: string): Promise<ScheduledWorld> {
  const world = `/worlds/${created(await api.post('/worlds', { name: 'Laps' })).address}`;
  const attributes = [{ name: 'laps', type: 'integer', defaultValue: 0 }];
  created(await api.post(`${world}/entity-schemas`, { name: 'track', attributes }));
  created(await api.post(`${world}/events`, { name: 'lap', firstVersion: lap(schedule) }));
  return {
    deploy: async () => {
      const bindings = [{ event: 'lap', eventVersion: 1 }];
      const { address } = created(await api.post(`${world}/deployments`, { name: 'Oval', bindings }));
      return `${world}/deployments/${address}`;
    },
    version: async (other) =>
      Number(created(await api.post(`${world}/events/lap/event-versions`, lap(other))).version),
  };
}
