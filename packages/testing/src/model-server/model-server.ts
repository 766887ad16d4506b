import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
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
      const body = await bodyOf(request);
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
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP port');
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
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
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<ChatBody> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as ChatBody;
}
