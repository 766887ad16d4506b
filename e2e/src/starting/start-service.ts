import { freePort } from '@orrery/testing/servers';
import { builtProgram, type NodeProcess, type ServiceName, startNode } from '@orrery/testing/system';
import { expect, vi } from 'vitest';
import { healthOf } from './health-of.js';

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
    vi.waitFor(async () => expect((await healthOf(port, '/readyz'))?.status).toBe(status), {
      timeout: 60_000,
    });
  await readyIs(200).catch(async (error: unknown) => {
    await process[Symbol.asyncDispose]();
    throw error;
  });
  return { process, port, readyIs };
}
