import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { listen } from '../servers/listen.js';
import { type ChatBody, type ModelCall, type Profile, says } from './profiles.js';

export interface ModelServerOptions {
  /** How the server behaves unless a test has planned something else. Default: it proposes nothing. */
  readonly behaves?: Profile;
  /** Milliseconds before it begins to answer. Default: 0. */
  readonly latencyMs?: number;
}

/** An OpenAI-compatible server, as well or badly behaved as a test wants it. */
export interface ModelServer extends AsyncDisposable {
  /** With the version segment. */
  readonly baseUrl: string;
  /** The requests in their order. */
  readonly calls: readonly ModelCall[];
  /** How many requests were in hand at once, at most. */
  readonly mostAtOnce: number;
  /** Plans the behaviour for the next requests, one profile each. */
  plan(...profiles: Profile[]): void;
  /** Changes how it behaves when nothing is planned. */
  behave(profile: Profile): void;
  /** Forgets requests and plans. */
  reset(): void;
}

export async function startModelServer({
  behaves = says({ stateChanges: {}, result: null }),
  latencyMs = 0,
}: ModelServerOptions = {}): Promise<ModelServer> {
  let usual = behaves;
  let planned: Profile[] = [];
  let calls: ModelCall[] = [];
  const load = { now: 0, most: 0 };
  const server = createServer((request, response) => {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    load.now += 1;
    load.most = Math.max(load.most, load.now);
    response.on('close', () => {
      load.now -= 1;
    });
    const answer = async () => {
      const body = (await json(request)) as ChatBody;
      const written = { before: request.socket.bytesWritten };
      const call: ModelCall = {
        body,
        headers: request.headers,
        response,
        gone: gone.signal,
        bytesWritten: () => request.socket.bytesWritten - written.before,
      };
      calls.push(call);
      const profile = planned.shift() ?? usual;
      if (latencyMs > 0) await wait(latencyMs, undefined, { signal: gone.signal });
      await profile(call);
    };
    // A client that goes away ends the work for it.
    answer().catch(() => response.destroy());
  });
  const listening = await listen(server);
  return {
    ...listening,
    baseUrl: `${listening.url}/v1`,
    get calls() {
      return calls;
    },
    get mostAtOnce() {
      return load.most;
    },
    plan: (...profiles) => void planned.push(...profiles),
    behave: (profile) => {
      usual = profile;
    },
    reset: () => {
      calls = [];
      planned = [];
      load.most = load.now;
    },
  };
}
