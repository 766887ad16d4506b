import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Resources } from '@orrery/service-kit';
import { freePort } from '@orrery/testing/servers';
import {
  builtProgram,
  type NodeProcess,
  repositoryRoot,
  type ServiceName,
  startNode,
} from '@orrery/testing/system';
import { type Link, startLink } from '../../external/link.js';
import type { BackendName } from './backends.js';

/** One of the processes of a service, through all its lives. */
export interface Member extends AsyncDisposable {
  /** `runtime-1`. */
  readonly name: string;
  readonly service: ServiceName;
  /** Where it answers `/readyz`. */
  readonly healthUrl: string;
  /** Where a gateway takes requests. */
  readonly url: string;
  readonly links: Readonly<Record<BackendName, Link>>;
  /** Sends a signal to the process that runs now. It is expected to end of it. */
  end(signal: NodeJS.Signals): void;
  /** Freezes the process, or lets it go on. */
  freeze(isFrozen: boolean): void;
  /** Waits for the end of the process, and starts the next one; resolves before that is ready. */
  restart(): Promise<void>;
  /** Sets by how much its wall clock is wrong, in milliseconds. */
  moveClock(offsetMs: number): void;
}

export interface MemberOptions {
  readonly service: ServiceName;
  readonly name: string;
  readonly targets: Readonly<Record<BackendName, Parameters<typeof startLink>[0]>>;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** It ended, and nobody had asked it to, although it had once been ready. */
  readonly onLost: (what: string) => void;
}

/** Before a process that ended by itself is started again, in milliseconds. */
const REST_MS = 500;
const movedClock = join(repositoryRoot, 'e2e/dist/chaos/house/moved-clock.js');

export async function startMember(options: MemberOptions): Promise<Member> {
  const { service, name, targets, folder } = options;
  const resources = new Resources();
  const links = {} as Record<BackendName, Link>;
  for (const [backend, target] of Object.entries(targets))
    links[backend as BackendName] = resources.use(backend, await startLink(target));
  const [port, healthPort] = [await freePort(), await freePort()];
  const offsetFile = join(folder, `${name}.clock`);
  writeFileSync(offsetFile, '0');
  const env = {
    ...options.env,
    DATABASE_URL: `postgres://orrery@127.0.0.1:${links.database.port}/orrery`,
    NATS_URL: `nats://127.0.0.1:${links.nats.port}`,
    REDIS_URL: `redis://127.0.0.1:${links.redis.port}`,
    HEALTH_PORT: String(healthPort),
    ...(service === 'gateway' && { PORT: String(port) }),
    CLOCK_OFFSET_FILE: offsetFile,
    NODE_OPTIONS: `--import ${movedClock}`,
  };
  let lives = 0;
  let expected: NodeProcess | undefined;
  let isOver = false;
  const start = (): NodeProcess => {
    lives += 1;
    const outputFile = join(folder, `${name}-${lives}.log`);
    const started = startNode(builtProgram(service), env, { outputFile });
    void started.exited.then((code) => {
      if (isOver || expected === started) return;
      const said = readFileSync(outputFile, 'utf8');
      // One that cannot reach a backend says so and ends: whoever runs it starts it again.
      if (said.includes('"msg":"started"'))
        options.onLost(`${name} ended with ${code}: ${said.slice(-2000)}`);
      setTimeout(replace, REST_MS, started);
    });
    return started;
  };
  const replace = (ended: NodeProcess) => {
    if (!isOver && current === ended) current = start();
  };
  let current = start();
  return {
    name,
    service,
    links,
    healthUrl: `http://127.0.0.1:${healthPort}`,
    url: `http://127.0.0.1:${port}`,
    end: (signal) => {
      expected = current;
      send(current, signal);
    },
    freeze: (isFrozen) => send(current, isFrozen ? 'SIGSTOP' : 'SIGCONT'),
    restart: async () => {
      await current.exited;
      if (!isOver) current = start();
    },
    moveClock: (offsetMs) => writeFileSync(offsetFile, String(offsetMs)),
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      await current[Symbol.asyncDispose]();
      await resources.release();
    },
  };
}

function send({ pid }: NodeProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It has just ended by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
