import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { System } from '@orrery/testing/system';

export interface Call {
  readonly path: string;
  readonly startedAt: number;
  endedAt: number;
  /** Undefined while it is under way, empty when it has succeeded; else a status, or how the connection broke. */
  failure: string | undefined;
}

export interface OpenLoop {
  /** Ends the loop, and resolves with its calls once each has its answer. */
  stop(): Promise<readonly Call[]>;
}

/** Executions at a fixed rate, whether earlier ones were answered or not; none is repeated. */
export function startOpenLoop(
  { url, key }: Pick<System, 'url' | 'key'>,
  paths: readonly string[],
  { body, perSecond }: { readonly body: object; readonly perSecond: number },
): OpenLoop {
  const agent = new Agent({ keepAlive: true });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const text = JSON.stringify(body);
  const calls: Call[] = [];
  const running = new Set<Promise<unknown>>();
  let isOver = false;
  const drive = async () => {
    const startedAt = performance.now();
    while (!isOver) {
      const path = paths[calls.length % paths.length] ?? '';
      const call: Call = { path, startedAt: performance.now(), endedAt: 0, failure: undefined };
      calls.push(call);
      const answered = post(`${url}${path}`, agent, headers, text).then((failure) => {
        Object.assign(call, { failure, endedAt: performance.now() });
        running.delete(answered);
      });
      running.add(answered);
      await setTimeout(Math.max(0, startedAt + (calls.length * 1000) / perSecond - performance.now()));
    }
  };
  const driving = drive();
  return {
    stop: async () => {
      isOver = true;
      await driving;
      await Promise.all(running);
      agent.destroy();
      return calls;
    },
  };
}

/** Resolves with what went wrong. `fetch` makes so much garbage that collecting it would be measured too. */
const post = (url: string, agent: Agent, headers: Record<string, string>, body: string): Promise<string> =>
  new Promise((resolve) => {
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      const { statusCode } = answer;
      answer.on('end', () => resolve(statusCode === 200 ? '' : String(statusCode)));
      answer.on('error', ({ message }) => resolve(message)).resume();
    });
    sent.on('error', ({ message }) => resolve(message)).end(body);
  });
