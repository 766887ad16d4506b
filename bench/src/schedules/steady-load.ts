import { Agent, type RequestOptions, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { System } from '@orrery/testing/system';

export interface Latency {
  readonly requests: number;
  readonly p50: number;
  readonly p99: number;
}

/** Executes events at a steady rate, whether answers come or not, until the signal aborts. In milliseconds. */
export async function steadyLoad(
  { url, key }: System,
  paths: readonly string[],
  body: object,
  perSecond: number,
  signal: AbortSignal,
): Promise<Latency> {
  const latencies: number[] = [];
  const running = new Set<Promise<void>>();
  using connections = {
    agent: new Agent({ keepAlive: true }),
    [Symbol.dispose]: () => connections.agent.destroy(),
  };
  const text = JSON.stringify(body);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const execute = async (path: string) => {
    const startedAt = performance.now();
    const status = await post(`${url}${path}`, { agent: connections.agent, headers }, text);
    if (status !== 200) throw new Error(`POST ${path} was answered ${status}`);
    latencies.push(performance.now() - startedAt);
  };
  for (let sent = 0, startedAt = performance.now(); !signal.aborted; sent += 1) {
    const path = paths[sent % paths.length] ?? '';
    const one = execute(path).finally(() => running.delete(one));
    running.add(one);
    await wait(Math.max(0, startedAt + ((sent + 1) * 1000) / perSecond - performance.now()));
  }
  await Promise.all(running);
  latencies.sort((a, b) => a - b);
  return { requests: latencies.length, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
}

/** The status of the answer. `fetch` makes so much garbage that collecting it would be measured too. */
const post = (url: string, options: RequestOptions, body: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { ...options, method: 'POST' }, (answer) => {
      answer.on('end', () => resolve(answer.statusCode)).on('error', reject);
      answer.resume();
    });
    sent.on('error', reject).end(body);
  });

/** Of values in ascending order. */
export const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
