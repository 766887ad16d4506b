import { freePort } from '@orrery/testing/servers';
import { builtProgram, type NodeProcess, type ServiceName, startNode } from '@orrery/testing/system';
import { expect, vi } from 'vitest';

/** One of the five services as a process of its own. */
export interface StartedService {
  readonly process: NodeProcess;
  /** Of its health pages. */
  readonly port: number;
  /** Resolves when `/readyz` answers with this status. */
  readyIs(status: number): Promise<void>;
}

/** Starts a built service; resolves when it is ready. */
export async function startService(
  name: ServiceName,
  backends: { readonly databaseUrl: string; readonly natsUrl: string },
): Promise<StartedService> {
  const port = await freePort();
  const { databaseUrl: DATABASE_URL, natsUrl: NATS_URL } = backends;
  const env = { DATABASE_URL, NATS_URL, PORT: '0', HEALTH_PORT: String(port) };
  const process = startNode(builtProgram(name), env);
  const readyIs = (status: number) =>
    vi.waitFor(async () => expect((await healthOf(port, '/readyz'))?.status).toBe(status));
  await readyIs(200).catch(async (error: unknown) => {
    await process[Symbol.asyncDispose]();
    throw error;
  });
  return { process, port, readyIs };
}

export interface HealthAnswer {
  readonly status: number;
  readonly body: { readonly status: string; readonly checks?: Record<string, { readonly status: string }> };
}

/** Asks a health page; `undefined` while nobody answers. */
export async function healthOf(
  port: number,
  path: '/healthz' | '/readyz',
): Promise<HealthAnswer | undefined> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
  if (answer === undefined) return undefined;
  return { status: answer.status, body: (await answer.json()) as HealthAnswer['body'] };
}
