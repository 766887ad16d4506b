import { resolve } from 'node:path';
import { natsEnvironment, natsSettings } from '@orrery/bus';
import { type CatalogConfig, readCatalogConfig } from '@orrery/catalog/config';
import { type ChainPusherConfig, readChainPusherConfig } from '@orrery/chain-pusher/config';
import { type GatewayConfig, readGatewayConfig } from '@orrery/gateway/config';
import { type RuntimeConfig, readRuntimeConfig } from '@orrery/runtime/config';
import { readSchedulerConfig, type SchedulerConfig } from '@orrery/scheduler/config';
import { databaseUrl, type Environment, natsUrl, readEnvironment, readTogether } from '@orrery/service-kit';
import { z } from 'zod';

const environment = z.object({
  ORRERY_DATA_DIR: z.string().default('.orrery').describe('the folder of the database and the first key'),
  DATABASE_URL: databaseUrl.optional(),
  NATS_URL: natsUrl.optional(),
  ...natsEnvironment,
});

export interface StandaloneSettings {
  /** Absolute. */
  readonly dataDirectory: string;
  /** Without it PostgreSQL is embedded, in the data directory. */
  readonly databaseUrl: string | undefined;
  /** Without it the bus is in-process. */
  readonly natsUrl: string | undefined;
  readonly nats: ReturnType<typeof natsSettings>;
  readonly catalog: CatalogConfig;
  readonly runtime: RuntimeConfig;
  /** The host under which callers reach it: part of the names of its journals. */
  readonly publicHost: string;
  /** The path that PAYMENTS_FILE gives. */
  readonly paymentsFile: string | undefined;
  /** Whether the built-in model is offered: only where nothing but this process is used and no list is given. */
  readonly sampler: boolean;
  /** Whether only its own user can come: nothing but this process is used, on a loopback address. */
  readonly isPersonal: boolean;
  readonly scheduler: SchedulerConfig;
  readonly chainPusher: ChainPusherConfig;
  readonly gateway: GatewayConfig;
  /** Prints the welcome text. */
  readonly write: (text: string) => void;
}

/** The adapters are chosen by URL. @throws StartupError naming every variable that is wrong. */
export function readStandaloneSettings(
  env: Environment,
  write: StandaloneSettings['write'],
): StandaloneSettings {
  const { own, ...services } = readTogether({
    own: () => readEnvironment(environment, env),
    catalog: () => readCatalogConfig(env),
    runtime: () => readRuntimeConfig(env),
    scheduler: () => readSchedulerConfig(env),
    chainPusher: () => readChainPusherConfig(env),
    gateway: () => readGatewayConfig({ ...env, ...limitsOf(env) }),
  });
  return {
    dataDirectory: resolve(own.ORRERY_DATA_DIR),
    databaseUrl: own.DATABASE_URL,
    natsUrl: own.NATS_URL,
    nats: natsSettings(own),
    ...services,
    // Another port is no other installation.
    publicHost: env['PUBLIC_URL'] ? new URL(env['PUBLIC_URL']).host : 'localhost',
    paymentsFile: env['PAYMENTS_FILE'] || undefined,
    sampler: isAlone(own) && services.runtime.modelFile === undefined,
    isPersonal: isAlone(own) && LOOPBACK.test(services.gateway.host),
    write,
  };
}

/** Whether no other process takes part. */
const isAlone = (own: { DATABASE_URL?: string | undefined; NATS_URL?: string | undefined }): boolean =>
  !own.DATABASE_URL && !own.NATS_URL;

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|::1)$/;

/**
 * Embedded and on loopback it serves its own user alone, so RATE_LIMITS is off by default; not where a proxy before it or
 * open sign-up lets others come (docs/gateway.md, "Limits").
 */
const limitsOf = (env: Environment): Environment =>
  !env['RATE_LIMITS'] &&
  !env['DATABASE_URL'] &&
  LOOPBACK.test(env['HOST'] || '127.0.0.1') &&
  !expectsOthers(env)
    ? { RATE_LIMITS: 'off' }
    : {};

const expectsOthers = ({ PUBLIC_URL, TRUST_PROXY, SIGN_UP }: Environment): boolean =>
  !!PUBLIC_URL || (!!TRUST_PROXY && TRUST_PROXY !== 'false') || SIGN_UP === 'open';
