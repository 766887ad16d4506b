import { join } from 'node:path';
import { connectBus } from '@orrery/bus';
import { startGateway } from '@orrery/gateway';
import { createSignInCode } from '@orrery/gateway/accounts';
import { runThread } from '@orrery/service-kit';
import { readStandaloneSettings } from './config.js';
import { firstKey } from './data-directory.js';
import type { GatewayFacts, GatewayGiven } from './open-gateway.js';

/** The gateway runs in a thread of its own: HTTP is about half of the work of an execution (docs/adr/0009). */
await runThread<GatewayGiven, GatewayFacts>(async (context, { databaseUrl }) => {
  const { env, ports, clock, logger, health, resources } = context;
  const settings = readStandaloneSettings(env, () => undefined);
  const { natsUrl: url, nats } = settings;
  const bus = await connectBus({ url, ...nats, port: ports['bus'], service: 'gateway', logger, clock });
  resources.add('gateway bus', () => bus.close());
  const dependencies = { databaseUrl, bus, clock, logger, health };
  const gateway = await startGateway(dependencies, settings.gateway);
  resources.use('gateway', gateway, gateway.stopTimeoutMs);
  const file = join(settings.dataDirectory, 'api-key');
  const { key, accountId } = await firstKey({ db: gateway.db, file });
  const { db, hasConsole } = gateway;
  const now = new Date(clock.now());
  const code = hasConsole && settings.isPersonal ? await createSignInCode(db, accountId, now) : undefined;
  return { url: gateway.url, key, hasConsole, code };
});
