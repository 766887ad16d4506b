import { setMaxListeners } from 'node:events';
import { systemClock } from '@orrery/service-kit';
import { query } from '@orrery/testing/servers';
import { type NodeProcess, startFiveProcesses, startNode } from '@orrery/testing/system';
import { type ApiAnswer, type ApiClient, apiClient } from '../api/api-client.js';
import { findScheduleViolations, type LedgerReport } from '../invariants/find-schedule-violations.js';
import { scheduledWorld } from '../worlds/scheduled-world.js';

export interface FaultRun {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  /** Deployments with a schedule that is due every minute. */
  readonly schedules: number;
  readonly schedulers: number;
  /** How many times as fast time passes for the schedules. */
  readonly speed: number;
  /** How long processes are killed, in real seconds. */
  readonly seconds: number;
  readonly write: (line: string) => void;
}

/** The clocks of two processes differ by this much, in milliseconds. */
const APART_MS = 5 * 60_000;
/** A process works this long at most before it is killed, in milliseconds. */
const LONGEST_LIFE_MS = 5_000;
const AT_ONCE = 16;
const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

export interface FaultReport extends LedgerReport {
  readonly kills: number;
  readonly disturbances: Omit<Disturbances, 'wrong'>;
}

/**
 * Runs schedulers whose clocks are wrong and kills them at random, while owners rebind, pause and resume; answers what the
 * ledgers and journals say then.
 */
export async function runFaults(options: FaultRun): Promise<FaultReport> {
  const { databaseUrl, natsUrl, schedules, schedulers, speed, seconds, write } = options;
  await using system = await startFiveProcesses({ databaseUrl, natsUrl }, { RATE_LIMITS: 'false' });
  await system.kill('scheduler');
  const api = apiClient(system.url, system.key);
  const world = await scheduledWorld(api, '* * * * *');
  const deployments: string[] = [];
  for (let made = 0; made < schedules; made += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, schedules - made) }, world.deploy);
    deployments.push(...(await Promise.all(some)));
  }
  const versions = [1, await world.version('* * * * *')];
  const variables = {
    DATABASE_URL: databaseUrl,
    NATS_URL: natsUrl,
    HEALTH_PORT: '0',
    LOG_LEVEL: 'info',
    FROM_MS: String(await databaseNow(databaseUrl)),
    SPEED: String(speed),
  };
  const start = (skew: number): NodeProcess =>
    startNode('e2e/dist/schedules/hurried-scheduler.js', { ...variables, CLOCK_SKEW_MS: String(skew) });
  const until = Date.now() + seconds * 1000;
  let kills = 0;
  const live = async (index: number) => {
    const skew = (index - 1) * APART_MS;
    while (Date.now() < until) {
      const process = start(skew);
      await process.waitFor(/"msg":"started"/);
      await systemClock.sleep(Math.random() * LONGEST_LIFE_MS);
      await process.end('SIGKILL');
      kills += 1;
    }
  };
  const ending = new AbortController();
  const disturbed = disturb({ api, deployments, versions, signal: ending.signal });
  await Promise.all(Array.from({ length: schedulers }, (_, index) => live(index)));
  ending.abort();
  const { wrong, ...disturbances } = await disturbed;
  write(`${kills} kills; the last scheduler brings the rest to an end`);
  await using last = start(0);
  await untilFollowed(api, deployments);
  await untilNothingRuns(databaseUrl);
  await last.end('SIGTERM');
  const found = await findScheduleViolations(databaseUrl);
  return { ...found, violations: [...found.violations, ...wrong], kills, disturbances };
}

async function databaseNow(databaseUrl: string): Promise<number> {
  const [row] = await query<{ now: Date }>(databaseUrl, 'select clock_timestamp() as now');
  return row?.now.getTime() ?? 0;
}

/** An answer about schedules includes all changes before it. */
async function untilFollowed(api: ApiClient, deployments: readonly string[]): Promise<void> {
  const left = [...deployments];
  const askAll = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const path = `${next}/schedules`;
      await untilAnswered(() => api.get(path), NEVER);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askAll));
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

export interface Disturbances {
  rebindings: number;
  pauses: number;
  resumptions: number;
  /** Requests without an answer of success: a scheduler was killed, for instance. What became of them is not known. */
  unanswered: number;
  /** Answers that are wrong in themselves. */
  readonly wrong: string[];
}

export interface DisturbOptions {
  readonly api: ApiClient;
  /** Paths of deployments below `/api`, each with the event `lap`. */
  readonly deployments: readonly string[];
  /** Versions of the event; they have the same schedule. */
  readonly versions: readonly number[];
  readonly signal: AbortSignal;
}

/** Owners that act at once, each on deployments of its own. */
const OWNERS = 4;
/** An owner rests this long at most between two requests, in milliseconds. */
const LONGEST_REST_MS = 200;

/** Rebinds deployments, and pauses and resumes them and their schedules, at random, until the signal aborts. */
export async function disturb(options: DisturbOptions): Promise<Disturbances> {
  const done: Disturbances = { rebindings: 0, pauses: 0, resumptions: 0, unanswered: 0, wrong: [] };
  const { deployments } = options;
  const owners = Array.from({ length: Math.min(OWNERS, deployments.length) }, (_, owner) =>
    act(
      options,
      deployments.filter((_path, index) => index % OWNERS === owner),
      done,
    ),
  );
  await Promise.all(owners);
  return done;
}

async function act(options: DisturbOptions, own: readonly string[], done: Disturbances): Promise<void> {
  const { signal } = options;
  while (!signal.aborted) {
    const deployment = anyOf(own);
    await anyOf([rebind, turnSchedule, turnSchedule, turnDeployment])(options, deployment, done);
    await systemClock.sleep(Math.random() * LONGEST_REST_MS, signal).catch(() => undefined);
  }
}

const anyOf = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)] as T;

type Action = (options: DisturbOptions, deployment: string, done: Disturbances) => Promise<void>;

/** The rebinding is followed before the next one: of two at once nobody could tell what was due in between. */
const rebind: Action = async ({ api, versions, signal }, deployment, done) => {
  const eventVersion = anyOf(versions);
  const answer = await api.put(`${deployment}/event-bindings`, [{ event: 'lap', eventVersion }]);
  if (answer.status !== 200) return noAnswer(done);
  done.rebindings += 1;
  const schedules = await untilAnswered(() => api.get(`${deployment}/schedules`), signal);
  const shown = schedules?.body.data[0]?.eventVersion;
  if (schedules !== undefined && shown !== eventVersion)
    done.wrong.push(`${deployment}: version ${shown} is shown after ${eventVersion} was bound`);
};

const turnSchedule: Action = async ({ api }, deployment, done) => {
  const isPause = Math.random() < 0.5;
  const answer = await api.post(`${deployment}/schedules/lap/${isPause ? 'pause' : 'resume'}`);
  if (answer.status !== 200) return noAnswer(done);
  done[isPause ? 'pauses' : 'resumptions'] += 1;
  const { pausedBy, nextAt } = answer.body.data;
  const isPaused = pausedBy.includes('schedule');
  if (isPaused !== isPause || (isPaused && nextAt !== null))
    done.wrong.push(
      `${deployment}: ${isPause ? 'paused' : 'resumed'}, but ${JSON.stringify(answer.body.data)}`,
    );
};

/** As with a rebinding, the next change is made when the schedulers have followed this one. */
const turnDeployment: Action = async ({ api, signal }, deployment, done) => {
  const isPause = Math.random() < 0.5;
  const answer = await api.post(`${deployment}/${isPause ? 'pause' : 'resume'}`);
  if (answer.status !== 200) return noAnswer(done);
  done[isPause ? 'pauses' : 'resumptions'] += 1;
  const schedules = await untilAnswered(() => api.get(`${deployment}/schedules`), signal);
  const pausedBy = schedules?.body.data[0]?.pausedBy;
  if (pausedBy !== undefined && pausedBy.includes('deployment') !== isPause)
    done.wrong.push(
      `${deployment}: ${isPause ? 'paused' : 'resumed'}, but ${JSON.stringify(pausedBy)} is shown`,
    );
};

function noAnswer(done: Disturbances): void {
  done.unanswered += 1;
}

/** Undefined when the signal aborts first. */
export async function untilAnswered(
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
