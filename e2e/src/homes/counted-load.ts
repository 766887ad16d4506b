import type { HistoryEntry } from '@orrery/contracts';
import { systemClock } from '@orrery/service-kit';
import type { ApiClient } from '../api/api-client.js';
import { judge, mayChange } from '../load/judge.js';
import { addressOf, type Operation, OperationLog } from '../load/operation.js';
import { performSurely } from '../load/perform.js';
import type { Asked, Reply } from '../load/send.js';
import { askThrough } from '../load/start-counting.js';
import { wrongOperations } from '../load/wrong-operations.js';
import { countRequest } from '../worlds/counter-world.js';
import type { MadeDeployment } from '../worlds/make-world.js';

/** Clients of each deployment, and how long each pauses after an answer, in milliseconds: journals are read in each case. */
const CLIENTS = 2;
const PAUSE_MS = 50;

/** Clients that count in each deployment, again and again until they are answered, and remember every answer. */
export interface CountedLoad {
  /** Lets them count from now on. */
  resume(): void;
  /** Resolves when each deployment has answered so many more executions that were begun from now on. */
  answered(times: number): Promise<void>;
  /** Resolves when nothing is under way any more: each execution that was begun is answered. */
  pause(): Promise<void>;
  /** While it pauses: what journals and counters tell otherwise than the answers. */
  problems(): Promise<string[]>;
  executions(): number;
  /** The longest time without an answer in a deployment since it counts again, in milliseconds. */
  longestPauseMs(): number;
}

export function createCountedLoad(api: ApiClient, deployments: readonly MadeDeployment[]): CountedLoad {
  const log = new OperationLog();
  const counted = deployments.map((deployment) => countIn(api, deployment, log));
  let [isPaused, lanes]: [boolean, Promise<unknown>] = [true, Promise.resolve()];
  const lane = async (countOnce: () => Promise<void>) => {
    while (!isPaused) {
      await countOnce();
      await systemClock.sleep(PAUSE_MS);
    }
  };
  return {
    resume: () => {
      if (!isPaused) return;
      isPaused = false;
      for (const { pauses } of counted) Object.assign(pauses, { since: performance.now(), longest: 0 });
      const running = counted.flatMap(({ countOnce }) =>
        Array.from({ length: CLIENTS }, () => lane(countOnce)),
      );
      lanes = Promise.all(running);
      // Whoever waits hears of it.
      lanes.catch(() => (isPaused = true));
    },
    answered: async (times) => {
      // Those under way were begun before.
      const wanted = counted.map(({ answers }) => answers() + CLIENTS + times);
      while (counted.some(({ answers }, index) => answers() < (wanted[index] ?? 0)))
        await Promise.race([systemClock.sleep(5), lanes.then(() => undefined)]);
    },
    pause: async () => {
      isPaused = true;
      await lanes;
    },
    problems: async () => (await Promise.all(counted.map(({ problems }) => problems()))).flat(),
    executions: () => log.operations.length,
    longestPauseMs: () => Math.round(Math.max(...counted.map(({ pauses }) => pauses.longest))),
  };
}

/** A deployment in which clients count, and what they know of it. */
function countIn(api: ApiClient, { path, address }: MadeDeployment, log: OperationLog) {
  const operations: Operation[] = [];
  const entries: HistoryEntry[] = [];
  const pauses = { since: 0, longest: 0 };
  const client = { ask: (asked: Asked) => askThrough(api, asked) };
  let answers = 0;
  const noteAnswer = () => {
    answers += 1;
    const now = performance.now();
    Object.assign(pauses, { since: now, longest: Math.max(pauses.longest, now - pauses.since) });
  };
  const countOnce = async () => {
    const operation = log.begin('direct', address);
    operations.push(operation);
    const headers = { 'idempotency-key': `operation ${operation.number}` };
    const asked = { method: 'POST', path: `${path}/execute`, headers, body: countRequest(operation.number) };
    await performSurely(client, operation, asked, { again, forMs: PATIENCE_MS, pauseMs: 50 });
    if (operation.outcome !== 'ok') throw new Error(`not counted: ${JSON.stringify(operation)}`);
    noteAnswer();
  };
  const problems = async () => {
    entries.push(...(await readSince(api, path, entries.at(-1)?.seq ?? 0)));
    return problemsOf(api, path, { operations, entries });
  };
  return { countOnce, problems, pauses, answers: () => answers };
}

/** Whatever is not decided is asked again. */
const again = (reply: Reply): boolean => mayChange(reply) || judge(reply) === 'unknown';

interface Known {
  readonly operations: readonly Operation[];
  readonly entries: readonly HistoryEntry[];
}

/** All operations are answered: each has one entry, where its answer said, and has counted once. */
async function problemsOf(api: ApiClient, path: string, { operations, entries }: Known): Promise<string[]> {
  const executed = entries.filter(({ kind }) => kind === 'execution');
  const shown = executed.map((entry) => ({ ...entry, deployment: addressOf(path), changes: [] }));
  const found = wrongOperations({ operations, entries: shown });
  const counter = await api.get(`${path}/entity-instances/C`);
  const [count, value] = [operations.length, counter.body.data?.state.value];
  if (value !== count || executed.length !== count)
    found.push(`${path}: the counter is ${value}, with ${executed.length} entries for ${count} operations`);
  const verified = (await api.get(`${path}/history/verify`)).body.data;
  if (verified?.valid !== true) found.push(`${path}: verify says ${JSON.stringify(verified)}`);
  return found;
}

/** A server that starts again on a busy machine takes minutes. */
const PATIENCE_MS = 400_000;

/** The entries after one, oldest first; the history is newest first. */
async function readSince(api: ApiClient, path: string, seq: number): Promise<HistoryEntry[]> {
  const found: HistoryEntry[] = [];
  for (let after = ''; ; after = `&after=${found.at(-1)?.seq}`) {
    const page = await api.get(`${path}/history?include=all&limit=100${after}`);
    if (page.status !== 200) throw new Error(`no history: ${page.status} ${JSON.stringify(page.body)}`);
    const entries: HistoryEntry[] = page.body.data;
    found.push(...entries.filter((entry) => entry.seq > seq));
    if (entries.length < 100 || entries.some((entry) => entry.seq <= seq)) return found.reverse();
  }
}
