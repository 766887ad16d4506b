import { type ApiClient, created } from '../api/api-client.js';
import { counting, makeWorld } from './make-world.js';

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
  const schemas = [counting('track', 'laps')];
  const events = [{ name: 'lap', firstVersion: lap(schedule) }];
  const { path, deploy } = await makeWorld(api, { name: 'Laps', schemas, events });
  return {
    deploy: async () => (await deploy({ name: 'Oval' })).path,
    version: async (other) =>
      Number(created(await api.post(`${path}/events/lap/event-versions`, lap(other))).version),
  };
}
