import { setMaxListeners } from 'node:events';
import { systemClock } from '@orrery/service-kit';
import { query } from '@orrery/testing/servers';
import { type NodeProcess, startFiveProcesses, startNode } from '@orrery/testing/system';
import { type ApiAnswer, type ApiClient, apiClient } from '../api/api-client.js';
import { findScheduleViolations, type LedgerReport } from '../invariants/find-schedule-violations.js';
import { scheduledWorld } from '../worlds/scheduled-world.js';

/** Deployments with a schedule that is due every minute; each owner acts on some of them. */
const SCHEDULES = 40;
const OWNERS = 4;
const SCHEDULERS = 3;
/** How many times as fast time passes for the schedules. */
const SPEED = 30;
/** How long processes are killed, in real milliseconds. */
const KILLED_FOR_MS = 12_000;
/** The clocks of two processes differ by this much, in milliseconds. */
const APART_MS = 5 * 60_000;
/** A process works this long at most before it is killed, in milliseconds. */
const LONGEST_LIFE_MS = 5_000;
/** An owner rests this long at most between two requests, in milliseconds. */
const LONGEST_REST_MS = 200;
const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

/**
 * Runs schedulers whose clocks are wrong and kills them at random, while owners rebind, pause and resume; answers what the
 * ledgers and journals say then.
 */
export async function runFaults(databaseUrl: string, natsUrl: string): Promise<LedgerReport> {
  await using system = await startFiveProcesses({ databaseUrl, natsUrl }, { RATE_LIMITS: 'false' });
  await system.kill('scheduler');
  const api = apiClient(system.url, system.key);
  const world = await scheduledWorld(api, '* * * * *');
  const deployments = await Promise.all(Array.from({ length: SCHEDULES }, world.deploy));
  const versions = [1, await world.version('* * * * *')];
  const [row] = await query<{ now: Date }>(databaseUrl, 'select clock_timestamp() as now');
  const variables = {
    DATABASE_URL: databaseUrl,
    NATS_URL: natsUrl,
    HEALTH_PORT: '0',
    LOG_LEVEL: 'info',
    FROM_MS: String(row?.now.getTime()),
    SPEED: String(SPEED),
  };
  const start = (skew: number): NodeProcess =>
    startNode('e2e/dist/schedules/hurried-scheduler.js', { ...variables, CLOCK_SKEW_MS: String(skew) });
  const signal = AbortSignal.timeout(KILLED_FOR_MS);
  const live = async (index: number) => {
    while (!signal.aborted) {
      const process = start((index - 1) * APART_MS);
      await process.waitFor(/"msg":"started"/);
      await systemClock.sleep(Math.random() * LONGEST_LIFE_MS);
      await process.end('SIGKILL');
    }
  };
  const wrong: string[] = [];
  const own = async (owner: number) => {
    const owned = deployments.filter((_path, index) => index % OWNERS === owner);
    while (!signal.aborted) {
      const deployment = anyOf(owned);
      const action = anyOf([rebind, turnSchedule, turnSchedule, turnDeployment]);
      wrong.push(
        ...(await action({ api, deployment, versions, signal })).map((what) => `${deployment}: ${what}`),
      );
      await systemClock.sleep(Math.random() * LONGEST_REST_MS, signal).catch(() => undefined);
    }
  };
  await Promise.all([
    ...Array.from({ length: SCHEDULERS }, (_, index) => live(index)),
    ...Array.from({ length: OWNERS }, (_, owner) => own(owner)),
  ]);
  await using last = start(0);
  // An answer about schedules includes all changes before it.
  await Promise.all(deployments.map((path) => untilAnswered(() => api.get(`${path}/schedules`), NEVER)));
  await untilNothingRuns(databaseUrl);
  await last.end('SIGTERM');
  const found = await findScheduleViolations(databaseUrl);
  return { ...found, violations: [...found.violations, ...wrong] };
}

const HOLD = 'update scheduler.schedules set next_at = null where next_at is not null returning id';
const RUNNING = `select id from scheduler.occurrences where status = 'running' limit 1`;

/** New due times begin all the time: what was claimed before is over when all that ran at one moment has ended. */
async function untilNothingRuns(databaseUrl: string): Promise<void> {
  for (;;) {
    // What is due goes on; the schedules are held so that it ends.
    const held = await query(databaseUrl, HOLD);
    const running = await query(databaseUrl, RUNNING);
    if (held.length + running.length === 0) return;
    await systemClock.sleep(100);
  }
}

interface Acting {
  readonly api: ApiClient;
  /** Its path below `/api`; it has the event `lap`. */
  readonly deployment: string;
  /** Versions of the event; they have the same schedule. */
  readonly versions: readonly number[];
  readonly signal: AbortSignal;
}

/**
 * What an owner does; resolves with what is wrong in the answers. Without an answer of success, as a scheduler was killed for
 * instance, it is not known what became of it.
 */
type Action = (acting: Acting) => Promise<string[]>;

const anyOf = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)] as T;

/** The rebinding is followed before the next one: of two at once nobody could tell what was due in between. */
const rebind: Action = async ({ api, deployment, versions, signal }) => {
  const eventVersion = anyOf(versions);
  const answer = await api.put(`${deployment}/event-bindings`, [{ event: 'lap', eventVersion }]);
  if (answer.status !== 200) return [];
  const schedules = await untilAnswered(() => api.get(`${deployment}/schedules`), signal);
  const shown = schedules?.body.data[0]?.eventVersion;
  return schedules === undefined || shown === eventVersion
    ? []
    : [`version ${shown} is shown after ${eventVersion} was bound`];
};

const turnSchedule: Action = async ({ api, deployment }) => {
  const isPause = Math.random() < 0.5;
  const answer = await api.post(`${deployment}/schedules/lap/${isPause ? 'pause' : 'resume'}`);
  if (answer.status !== 200) return [];
  const { pausedBy, nextAt } = answer.body.data;
  const isPaused = pausedBy.includes('schedule');
  return isPaused === isPause && (!isPaused || nextAt === null)
    ? []
    : [`${isPause ? 'paused' : 'resumed'}, but ${JSON.stringify(answer.body.data)}`];
};

/** As with a rebinding, the next change is made when the schedulers have followed this one. */
const turnDeployment: Action = async ({ api, deployment, signal }) => {
  const isPause = Math.random() < 0.5;
  const answer = await api.post(`${deployment}/${isPause ? 'pause' : 'resume'}`);
  if (answer.status !== 200) return [];
  const schedules = await untilAnswered(() => api.get(`${deployment}/schedules`), signal);
  const pausedBy = schedules?.body.data[0]?.pausedBy;
  return pausedBy === undefined || pausedBy.includes('deployment') === isPause
    ? []
    : [`${isPause ? 'paused' : 'resumed'}, but ${JSON.stringify(pausedBy)} is shown`];
};

/** Undefined when the signal aborts first. */
async function untilAnswered(
  ask: () => Promise<ApiAnswer>,
  signal: AbortSignal,
): Promise<ApiAnswer | undefined> {
  while (!signal.aborted) {
    const answer = await ask();
    if (answer.status === 200) return answer;
    await systemClock.sleep(100, signal).catch(() => undefined);
  }
  return undefined;
}
