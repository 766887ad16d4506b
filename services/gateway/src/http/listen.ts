import { listenFailure } from '@orrery/service-kit';
import type { FastifyInstance } from 'fastify';

/** Begins to listen and returns the address as a URL. @throws StartupError that says what to do. */
export async function listenHttp(
  app: FastifyInstance,
  address: { host: string; port: number },
): Promise<string> {
  try {
    return await app.listen(address);
  } catch (error) {
    throw listenFailure(error, { ...address, variable: 'PORT' });
  }
}
