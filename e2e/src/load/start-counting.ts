import { systemClock } from '@orrery/service-kit';
import type { ApiClient } from '../api/api-client.js';
import { countRequest } from '../worlds/counter-world.js';
import { judge, mayChange } from './judge.js';
import { addressOf, OperationLog, type Try } from './operation.js';
import { performSurely } from './perform.js';
import { readJournal } from './read-journal.js';
import { type Asked, type Reply, textOf } from './send.js';
import { wrongOperations } from './wrong-operations.js';

export interface CountingOptions {
  readonly api: ApiClient;
  /** Paths below `/api`. */
  readonly deployments: readonly string[];
  readonly clients: number;
  /** After this long an operation is given up, in milliseconds. Default 200,000. */
  readonly patienceMs?: number;
}

/** Clients that count in several deployments without pause, and remember every answer. */
export interface CountingLoad {
  /** Executions that were answered with success. */
  count(): number;
  /** Requests that had to be repeated, in the order of their ends. */
  interruptions(): readonly Try[];
  /** Resolves once so many executions were answered. */
  acknowledged(count: number): Promise<void>;
  /** Lets every operation under way end. */
  finish(): Promise<void>;
  /** Compares what was answered with the journals and the counters. */
  problems(): Promise<string[]>;
}

export function startCounting({
  api,
  deployments,
  clients,
  patienceMs = 200_000,
}: CountingOptions): CountingLoad {
  const log = new OperationLog();
  const client = { ask: (asked: Asked) => askThrough(api, asked) };
  let isEnding = false;
  let count = 0;
  const countOnce = async (): Promise<void> => {
    const path = deployments[log.operations.length % deployments.length] ?? '';
    const operation = log.begin('direct', addressOf(path));
    const headers = { 'idempotency-key': `operation ${operation.number}` };
    const body = countRequest(operation.number);
    const asked = { method: 'POST', path: `${path}/execute`, headers, body };
    // Whatever is not decided is asked again.
    const again = (reply: Reply) => mayChange(reply) || judge(reply) === 'unknown';
    await performSurely(client, operation, asked, { again, forMs: patienceMs, pauseMs: 20 });
    if (operation.outcome !== 'ok') throw new Error(`not counted: ${JSON.stringify(operation)}`);
    count += 1;
  };
  const live = async (): Promise<void> => {
    while (!isEnding) await countOnce();
  };
  const running = Promise.all(Array.from({ length: clients }, live));
  // Whoever waits hears of it.
  running.catch(() => undefined);
  return {
    count: () => count,
    interruptions: () =>
      log.operations
        .flatMap(({ tries }) => tries.filter(({ outcome }) => outcome !== 'ok'))
        .sort((a, b) => a.at + a.ms - (b.at + b.ms)),
    acknowledged: async (wanted) => {
      while (count < wanted) await Promise.race([systemClock.sleep(5), running]);
    },
    finish: async () => {
      isEnding = true;
      await running;
    },
    problems: async () => {
      const found = deployments.map((path) => problemsOf(api, path, log));
      return (await Promise.all(found)).flat();
    },
  };
}

/** A client of the API as one that tells how a connection broke. */
export const askThrough = (api: ApiClient, { method, path, body, headers }: Asked): Promise<Reply> =>
  api.raw(method, path, textOf(body), { ...headers }).then(
    (answer) => ({ answer }),
    (cause: Error) => ({ broken: 'connection lost', wasSent: true, wasIdle: false, cause }),
  );

/** Every operation stands in the journal exactly once, where its answer said, and nothing else does. */
async function problemsOf(api: ApiClient, path: string, log: OperationLog): Promise<string[]> {
  const deployment = addressOf(path);
  const executions = (await readJournal(api, path)).filter(({ kind }) => kind === 'execution');
  const entries = executions.map((entry) => ({ ...entry, deployment, changes: [] }));
  const operations = log.operations.filter((one) => one.deployment === deployment);
  const failed = executions.filter(({ status }) => status !== 'succeeded');
  const problems = wrongOperations({ operations, entries });
  problems.push(...failed.map(({ seq, status }) => `entry ${seq} ${status}`));
  const counter = await api.get(`${path}/entity-instances/C`);
  const value = counter.body.data?.state.value;
  if (value !== executions.length)
    problems.push(`the counter is ${value} after ${executions.length} executions`);
  const { body } = await api.get(`${path}/history/verify`);
  if (body.data?.valid !== true) problems.push(`verify says ${JSON.stringify(body)}`);
  return problems;
}
