import { type Bus, connectBus, createInProcessHub, lendHub } from '@orrery/bus';
import { startCatalog } from '@orrery/catalog';
import { startChainPusher } from '@orrery/chain-pusher';
import { type ChainPusherConfig, parseKeys } from '@orrery/chain-pusher/config';
import { startRuntime } from '@orrery/runtime';
import { parseSigningKeys, type RuntimeConfig } from '@orrery/runtime/config';
import { startScheduler } from '@orrery/scheduler';
import { type RunningService, type ServiceContext, StartupError } from '@orrery/service-kit';
import type { StandaloneSettings } from './config.js';
import { randomHex, storedKeys, storeUrl } from './data-directory.js';
import type { OpenGateway } from './open-gateway.js';
import { paymentsNotice } from './payments-notice.js';
import { startSampler } from './sampler/sampler-server.js';
import { useAll } from './use-all.js';
import { welcome } from './welcome.js';

export interface ServicesSettings extends Omit<StandaloneSettings, 'gateway'> {
  readonly databaseUrl: string;
  /** The database is this process's own, and its folder is locked: no other process can use it. */
  readonly ownsDatabase: boolean;
  readonly gateway: OpenGateway;
}

/** Starts all five services in this process. The gateway listens once the others answer. */
export async function startServices(
  context: ServiceContext,
  settings: ServicesSettings,
): Promise<RunningService> {
  const { logger, clock, health, resources } = context;
  const { databaseUrl, dataDirectory, gateway } = settings;
  const busFor = await openBuses(context, settings);
  const shared = { databaseUrl, clock, logger, health };
  // All buses first: if one failed after a service began to start, nothing would stop that service.
  const forCatalog = { ...shared, bus: await busFor('catalog') };
  const forRuntime = { ...shared, bus: await busFor('runtime') };
  const forScheduler = { ...shared, bus: await busFor('scheduler') };
  const forChainPusher = { ...shared, bus: await busFor('chain-pusher') };
  const randomnessKeys = await keysOf(settings, settings.runtime.randomnessKeys, 'randomness-keys');
  const signing = await withSigningKeys(settings);
  const chainPusher = await withWebhookKeys(settings);
  const models = settings.sampler ? [await startSampler(resources)] : settings.runtime.models;
  const runtimeConfig = { ...signing, models, randomnessKeys };
  await useAll(resources, {
    catalog: startCatalog(forCatalog, settings.catalog),
    runtime: startRuntime({ ...forRuntime, soleProcess: settings.ownsDatabase }, runtimeConfig),
    scheduler: startScheduler(forScheduler, settings.scheduler),
    'chain-pusher': startChainPusher(forChainPusher, chainPusher),
  });
  // Registered a second time, so that it is closed before the others.
  resources.use('gateway thread', gateway, gateway.stopTimeoutMs);
  const facts = await gateway.start({ databaseUrl });
  await storeUrl(dataDirectory, facts.url);
  const payments = await paymentsNotice({ ...settings, payments: settings.runtime.payments });
  settings.write(welcome({ ...facts, dataDirectory, payments }));
  return { [Symbol.asyncDispose]: async () => undefined };
}

async function withWebhookKeys({
  chainPusher,
  ownsDatabase,
  dataDirectory,
}: ServicesSettings): Promise<ChainPusherConfig> {
  const { webhooks } = chainPusher;
  if (webhooks === undefined) return chainPusher;
  const keys = await keysOf({ ownsDatabase, dataDirectory }, webhooks.keys, 'webhook-keys');
  return { ...chainPusher, webhooks: { ...webhooks, keys } };
}

async function withSigningKeys({
  runtime,
  ownsDatabase,
  dataDirectory,
  publicHost,
}: ServicesSettings): Promise<RuntimeConfig> {
  if (!ownsDatabase || runtime.signingKeys.length > 0) return runtime;
  const keys = parseSigningKeys(
    await storedKeys(dataDirectory, 'signing-keys', () => `${publicHost}+${randomHex()}`),
  );
  if (keys === undefined || keys.length === 0)
    throw new StartupError(
      `The file signing-keys in ${dataDirectory} holds no keys: restore it from a backup.`,
    );
  return { ...runtime, signingKeys: keys };
}

/** Processes on a database of others need the same keys, which the operator sets. */
async function keysOf(
  { ownsDatabase, dataDirectory }: Pick<ServicesSettings, 'ownsDatabase' | 'dataDirectory'>,
  set: readonly Buffer[],
  file: string,
): Promise<readonly Buffer[]> {
  if (!ownsDatabase || set.length > 0) return set;
  const keys = parseKeys(await storedKeys(dataDirectory, file));
  if (keys === undefined || keys.length === 0)
    throw new StartupError(`The file ${file} in ${dataDirectory} holds no keys: restore it from a backup.`);
  return keys;
}

/** Opens a bus for each service: over NATS if there is an address, else on one hub in this process. */
async function openBuses(
  { logger, clock, resources }: ServiceContext,
  { natsUrl: url, nats, gateway }: ServicesSettings,
): Promise<(service: string) => Promise<Bus>> {
  const hub = url === undefined ? createInProcessHub({ logger, clock }) : undefined;
  // The gateway's thread connects to NATS by itself.
  if (hub === undefined) gateway.port.close();
  else lendHub(hub, gateway.port, logger);
  return async (service) => {
    const bus = await connectBus({ url, ...nats, service, logger, clock, ...(hub && { hub }) });
    resources.add(`${service} bus`, () => bus.close());
    return bus;
  };
}
