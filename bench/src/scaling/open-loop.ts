import { setTimeout } from 'node:timers/promises';
import type { System } from '@orrery/testing/system';

/** What became of the calls that were made since a fault. */
export interface Calls {
  readonly calls: number;
  /** Why calls had no success: a code, or that the connection was lost. */
  readonly failed: readonly string[];
  /** From the fault until each deployment had answered a call that was made after it. */
  readonly withoutOwnerMs: number;
  readonly longestMs: number;
}

interface Call {
  readonly path: string;
  readonly startedAt: number;
  endedAt: number;
  /** Null while it is under way, empty when it has succeeded. */
  failure: string | null;
}

const EVERY_MS = 8;

/** Calls at a fixed rate, whether earlier ones were answered or not; none is repeated. */
export function startOpenLoop(system: System, paths: readonly string[]) {
  const calls: Call[] = [];
  let isOver = false;
  const driving = (async () => {
    for (let number = 0; !isOver; number += 1) {
      const path = paths[number % paths.length] ?? '';
      const call: Call = { path, startedAt: performance.now(), endedAt: 0, failure: null };
      calls.push(call);
      void execute(system, path).then((failure) =>
        Object.assign(call, { failure, endedAt: performance.now() }),
      );
      await setTimeout(EVERY_MS);
    }
  })();
  return {
    /** Ends the loop once every call has an answer; tells of those made since `at`. */
    stop: async (at: number): Promise<Calls> => {
      isOver = true;
      await driving;
      while (calls.some(({ failure }) => failure === null)) await setTimeout(50);
      const since = calls.filter(({ startedAt }) => startedAt >= at);
      const firstOf = (path: string) =>
        Math.min(
          ...since.filter((one) => one.path === path && one.failure === '').map(({ endedAt }) => endedAt),
        );
      return {
        calls: since.length,
        failed: since.flatMap(({ failure }) => failure || []),
        withoutOwnerMs: Math.max(...paths.map(firstOf)) - at,
        longestMs: Math.max(...since.map(({ startedAt, endedAt }) => endedAt - startedAt)),
      };
    },
  };
}

async function execute({ url, key }: System, path: string): Promise<string> {
  try {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"event":"tick","input":{"id":"one","by":1}}',
    });
    const { code } = (await answer.json()) as { code?: string };
    return answer.ok ? '' : `${answer.status} ${code}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
