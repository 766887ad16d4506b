import { EventEmitter, once, setMaxListeners } from 'node:events';
import type { ApiClient } from '../api-client.js';
import { countRequest } from './counter-world.js';
import { executeSurely, type Interruption } from './execute-surely.js';
import { readJournal } from './read-journal.js';

export interface CountingOptions {
  readonly api: ApiClient;
  /** Paths below `/api`. */
  readonly deployments: readonly string[];
  readonly clients: number;
  /** After this long everything is given up, in milliseconds. Default 200,000. */
  readonly patienceMs?: number;
}

/** Clients that count in several deployments without pause, and remember every answer. */
export interface CountingLoad {
  /** Executions that were answered with success. */
  count(): number;
  /** Why operations had to be asked for again. */
  interruptions(): readonly string[];
  /** The same with what was answered. */
  details(): readonly Interruption[];
  /** Resolves once so many executions were answered. */
  acknowledged(count: number): Promise<void>;
  /** Lets every operation under way end. */
  finish(): Promise<void>;
  /** Compares what was answered with the journals and the counters. */
  problems(): Promise<string[]>;
}

interface Acknowledged {
  readonly historyId: string;
  readonly seq: number;
}

const PATIENCE_MS = 200_000;

export function startCounting({
  api,
  deployments,
  clients,
  patienceMs = PATIENCE_MS,
}: CountingOptions): CountingLoad {
  const signal = AbortSignal.timeout(patienceMs);
  setMaxListeners(0, signal);
  const progress = new EventEmitter().setMaxListeners(0);
  const answers = deployments.map(() => new Map<number, Acknowledged>());
  const strange: string[] = [];
  let next = 0;
  let count = 0;
  const interruptions: Interruption[] = [];
  let ending = false;

  const operate = async (operation: number): Promise<void> => {
    const place = operation % deployments.length;
    const key = `operation ${operation}`;
    const path = deployments[place] ?? '';
    const answer = await executeSurely(api, path, countRequest(operation), key, signal);
    interruptions.push(...answer.interruptions);
    if (answer.status === 200) answers[place]?.set(operation, answer.body.data);
    else strange.push(`${key} was answered with ${answer.status} ${JSON.stringify(answer.body)}`);
    count += 1;
    progress.emit('answered');
  };
  const client = async (): Promise<void> => {
    while (!ending) {
      next += 1;
      await operate(next);
    }
  };
  const running = Promise.all(Array.from({ length: clients }, client));
  // Whoever waits hears of it through `finish`.
  running.catch(() => progress.emit('answered'));

  return {
    count: () => count,
    interruptions: () => interruptions.map(({ code }) => code),
    details: () => interruptions,
    acknowledged: async (wanted) => {
      while (count < wanted) await once(progress, 'answered', { signal });
    },
    finish: async () => {
      ending = true;
      await running;
    },
    problems: async () => {
      const found = deployments.map((path, place) => problemsOf(api, path, answers[place] ?? new Map()));
      return [...strange, ...(await Promise.all(found)).flat()];
    },
  };
}

/** Every answered operation stands in the journal exactly once, where its answer said, and nothing else does. */
async function problemsOf(
  api: ApiClient,
  path: string,
  answered: ReadonlyMap<number, Acknowledged>,
): Promise<string[]> {
  const problems: string[] = [];
  const executions = (await readJournal(api, path)).filter(({ kind }) => kind === 'execution');
  const seen = new Set<number>();
  for (const { id, seq, input, status } of executions) {
    const operation = Number(input['operation']);
    const answer = answered.get(operation);
    if (status !== 'succeeded') problems.push(`entry ${seq} ${status}`);
    if (seen.has(operation)) problems.push(`operation ${operation} ran twice`);
    if (answer?.historyId !== id || answer.seq !== seq)
      problems.push(
        `operation ${operation} was answered as ${JSON.stringify(answer)}, and is entry ${seq} ${id}`,
      );
    seen.add(operation);
  }
  const lost = [...answered.keys()].filter((operation) => !seen.has(operation));
  problems.push(...lost.map((operation) => `operation ${operation} was answered and is lost`));
  const counter = await api.get(`${path}/entity-instances/C`);
  const value = counter.body.data?.state.value;
  if (value !== executions.length)
    problems.push(`the counter is ${value} after ${executions.length} executions`);
  const { body } = await api.get(`${path}/history/verify`);
  if (body.data?.valid !== true) problems.push(`verify says ${JSON.stringify(body)}`);
  return problems;
}
