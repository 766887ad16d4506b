import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { holding, type Resources, systemClock } from '@orrery/service-kit';
import { type ModelServer, startModelServer } from '@orrery/testing/model-server';
import { type EvmPayments, startEvmPayments } from '@orrery/testing/payments';
import { temporaryFolder, type WebhookReceiver } from '@orrery/testing/servers';
import { firstKey, SERVICES } from '@orrery/testing/system';
import { type Link, startLink } from '../../external/link.js';
import { writePaymentsFile } from '../../public/evm-offers.js';
import { type LocalChain, startLocalChain } from '../../starting/start-local-chain.js';
import { listedModel } from '../../worlds/ai-racing-world.js';
import { answersOperation } from '../load/start-load.js';
import { type Backends, startBackends } from './backends.js';
import { type Member, startMember } from './member.js';
import { startReceiver } from './webhooks.js';

/** An Orrery with two processes of every service, with everything around it: all of it may fail. */
export interface House extends AsyncDisposable {
  readonly members: readonly Member[];
  readonly backends: Backends;
  readonly model: ModelServer;
  readonly payments: EvmPayments;
  readonly chain: LocalChain;
  /** Of webhooks. */
  readonly receiver: WebhookReceiver;
  /** From all processes to a chain's node: of pushes, and of payments. */
  readonly nodes: Readonly<Record<'chain' | 'payments', Link>>;
  readonly folder: string;
  /** A key of the first account. */
  readonly key: string;
  /** Texts that may stand in no log. */
  readonly secrets: readonly string[];
  /** Processes that ended although nobody had asked them to. */
  readonly lost: readonly string[];
  /** Resolves when every process is ready, with nothing; or, when the time is over, with the names of those that are not. */
  ready(patienceMs: number): Promise<string[]>;
}

const MODEL_KEY = 'sk-of-the-model-0123456789';
/** Short, so that a takeover takes seconds, and not so short that a busy machine loses leases by itself. */
const PATIENCE = {
  LEASE_TTL_MS: '4000',
  CHAIN_LEASE_TTL_MS: '4000',
  CALL_DEADLINE_MS: '10000',
  AI_DEADLINE_MS: '30000',
  SCHEDULE_RECONCILE_MS: '5000',
};

export const startHouse = (): Promise<House> =>
  holding(
    async (resources) => {
      const folder = await temporaryFolder(resources, 'chaos');
      const backends = await startBackends(resources, folder);
      const outside = await startOutside(resources, folder);
      const env = { RATE_LIMITS: 'false', LOG_LEVEL: 'info', ...PATIENCE, ...outside.env };
      const lost: string[] = [];
      const onLost = (what: string) => void lost.push(what);
      const names = [1, 2].flatMap((number) =>
        SERVICES.map((service) => ({ service, name: `${service}-${number}` })),
      );
      const start = (one: (typeof names)[number]) =>
        startMember({ ...one, targets: backends.targets, folder, env, onLost });
      const members = await Promise.all(names.map(start));
      for (const member of members) resources.use(member.name, member, END_MS);
      const ready = (patienceMs: number) => untilReady(members, patienceMs);
      const missing = await ready(START_MS);
      if (missing.length > 0) throw new Error(`${missing.join(', ')} did not become ready`);
      const key = await firstKey({ DATABASE_URL: backends.databaseUrl }, resources);
      const secrets = [key, MODEL_KEY, outside.chain.env['LOCAL_KEY'] ?? '', ...outside.webhookSecrets];
      return { members, backends, folder, key, lost, ready, ...outside, secrets };
    },
    { releaseTimeoutMs: END_MS },
  );

const START_MS = 240_000;
const END_MS = 60_000;

/** What is beyond the system's own servers: a model, a chain with a facilitator, a chain for pushes. */
async function startOutside(resources: Resources, folder: string) {
  const model = resources.use('model', await startModelServer({ behaves: answersOperation }));
  const payments: EvmPayments = resources.use('payments', await startEvmPayments());
  const linkTo = async (url: string) => startLink({ host: '127.0.0.1', port: Number(new URL(url).port) });
  const paymentNode = resources.use('payment node', await linkTo(payments.rpcUrl));
  const rpcUrl = `http://127.0.0.1:${paymentNode.port}`;
  const files = { models: join(folder, 'models.json'), payments: join(folder, 'payments.json') };
  await writeFile(files.models, JSON.stringify([listedModel('test/model', aiModel(model.baseUrl))]));
  await writePaymentsFile(files.payments, { ...payments, rpcUrl });
  let chainNode: Link | undefined;
  const chain = await startLocalChain(resources, async (url) => {
    chainNode = resources.use('chain node', await linkTo(url));
    return `http://127.0.0.1:${chainNode.port}`;
  });
  const nodes = { chain: chainNode as unknown as Link, payments: paymentNode };
  const { receiver, env: webhookEnv, secrets: webhookSecrets } = await startReceiver(resources);
  const env = {
    ...chain.env,
    ...webhookEnv,
    AI_MODELS_FILE: files.models,
    PAYMENTS_FILE: files.payments,
    MODEL_KEY,
  };
  return { model, payments, chain, receiver, nodes, env, webhookSecrets };
}

const aiModel = (baseUrl: string) => ({
  contextLength: 32_768,
  isDefault: true,
  baseUrl,
  apiKeyEnv: 'MODEL_KEY',
  inputUsdPerMillionTokens: 1,
  outputUsdPerMillionTokens: 2,
});

async function untilReady(members: readonly Member[], patienceMs: number): Promise<string[]> {
  for (const until = performance.now() + patienceMs; ; await systemClock.sleep(200)) {
    const answers = await Promise.all(members.map(({ healthUrl }) => isReady(healthUrl)));
    const missing = members.filter((_member, index) => !answers[index]).map(({ name }) => name);
    if (missing.length === 0 || performance.now() > until) return missing;
  }
}

const isReady = (healthUrl: string): Promise<boolean> =>
  fetch(`${healthUrl}/readyz`, { signal: AbortSignal.timeout(5000) }).then(
    ({ ok }) => ok,
    () => false,
  );
