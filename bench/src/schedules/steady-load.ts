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
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const execute = async (path: string) => {
    const startedAt = performance.now();
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    await answer.text();
    if (!answer.ok) throw new Error(`POST ${path} was answered ${answer.status}`);
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

/** Of values in ascending order. */
export const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
