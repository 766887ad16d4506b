import { systemClock } from '@orrery/service-kit';
import type { ApiAnswer, ApiClient } from '../api-client.js';

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
