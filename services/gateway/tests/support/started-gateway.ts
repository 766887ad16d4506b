import { connectBus, createInProcessHub } from '@orrery/bus';
import { createHealth, createLogger, holding, systemClock } from '@orrery/service-kit';
import { createTestDatabase, PATIENT } from '@orrery/testing';
import { readGatewayConfig } from '../../src/config.js';
import { startGateway } from '../../src/service.js';
import { createAccountWithKey } from '../../src/store/keys/key-store.js';

const logger = createLogger({ service: 'gateway', level: 'silent' });

/** Gateways over one database and one bus, as replicas stand next to each other. */
export const startReplicas = (count: number, env: Record<string, string> = {}) =>
  holding(async (resources) => {
    const { url: databaseUrl } = resources.use('test database', await createTestDatabase());
    const hub = createInProcessHub({ clock: systemClock, logger });
    const start = async () => {
      const bus = await connectBus({ url: 'inprocess', hub, service: 'gateway', logger, clock: systemClock });
      resources.add('bus', () => bus.close());
      const health = createHealth({ clock: systemClock });
      const dependencies = { databaseUrl, bus, clock: systemClock, logger, health };
      return resources.use(
        'gateway',
        await startGateway(dependencies, readGatewayConfig({ PORT: '0', ...env })),
      );
    };
    const bus = await connectBus({ url: 'inprocess', hub, service: 'test', logger, clock: systemClock });
    resources.add('test bus', () => bus.close());
    const gateways = [];
    for (let i = 0; i < count; i += 1) gateways.push(await start());
    const [first] = gateways;
    if (first === undefined) throw new RangeError('no gateway');
    const { account, key } = await createAccountWithKey(first.db, { name: 'tester' });
    return {
      gateways,
      urls: gateways.map(({ url }) => url),
      databaseUrl,
      db: first.db,
      bus,
      account,
      token: key.token,
    };
  }, PATIENT);

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any;
}

/** A request with a token and a JSON body. */
export async function ask(
  url: string,
  method: string,
  path: string,
  token?: string,
  body?: unknown,
): Promise<Answer> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) };
}
