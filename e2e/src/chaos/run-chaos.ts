import { cp } from 'node:fs/promises';
import { createPublicClient, createTestClient, type Hex, http } from 'viem';
import { addressOf, type Operation, OperationLog } from '../load/operation.js';
import { PRICE, RECEIVER } from '../worlds/toasts.js';
import { type Evidence, readChainPushes, readCharges, readEntries, readPayments } from './check/evidence.js';
import { findAll, named, type Violation } from './check/find-all.js';
import { linesAbout, readLogs, secretsIn } from './check/logs.js';
import { untilEnded } from './check/until-ended.js';
import { FAULTS, playPlan } from './faults/play-plan.js';
import { type House, startHouse } from './house/start-house.js';
import { makeWebhooks, type Webhooks } from './house/webhooks.js';
import { chaosClient } from './load/chaos-client.js';
import { operationOf, startLoad } from './load/start-load.js';
import { makeWorlds } from './load/worlds.js';
import { drawPlan } from './plan/draw-plan.js';
import { createRandom } from './plan/random.js';
import { type ChaosReport, countAnswers, countNames } from './report.js';

export interface ChaosOptions {
  /** The faults and the operations that are drawn follow from it; when they meet does not. */
  readonly seed: number;
  /** How long faults begin, in milliseconds. */
  readonly lengthMs: number;
  readonly clients: number;
  /** Between two faults, on average, in milliseconds. */
  readonly everyMs: number;
  /** A folder to which the logs of the processes are copied; empty for none. */
  readonly keep: string;
  readonly write: (line: string) => void;
}

/** Deployments of each kind. */
const EACH = 2;
/** Longer than every deadline: that of the gateway for models is 35 s. */
const CLIENT_PATIENCE_MS = 45_000;
/** In seconds, between which a payment is valid for as long as faults happen: what is unclear ends only after it. */
const VALID_S = { least: 30, most: 120 };
/** Longer than a payment may be valid, and than a run may take; in milliseconds. */
const ENDING_MS = 300_000;

/**
 * Runs a whole Orrery under load while faults happen to it, lets everything end, and compares what PostgreSQL, the clients'
 * own log and the ledgers of model, facilitator and chains say.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, lengthMs, clients, everyMs, keep, write } = options;
  const random = createRandom(seed);
  await using house = await startHouse();
  const urls = house.members.filter(({ service }) => service === 'gateway').map(({ url }) => url);
  const worlds = await makeWorlds(urls[0] ?? '', house.key, EACH);
  const followed = [...worlds.counting, ...worlds.pushed];
  const webhooks = await makeWebhooks(house.receiver, { url: urls[0] ?? '', key: house.key }, followed);
  using client = chaosClient({
    urls,
    key: house.key,
    random: random.branch('gateways'),
    patienceMs: CLIENT_PATIENCE_MS,
  });
  const log = new OperationLog();
  const validForS = Math.max(VALID_S.least, Math.min(VALID_S.most, lengthMs / 1000));
  const load = startLoad({ client, random, log, worlds, fund: oneByOne(house), validForS }, clients);
  const plan = drawPlan({ random: random.branch('plan'), kinds: FAULTS, lengthMs, everyMs });
  write(`${plan.length} faults in ${lengthMs / 1000} s, seed ${seed}`);
  const played = await playPlan(house, plan, ({ at, kind, target, forMs }) =>
    write(`${(at / 1000).toFixed(1)} s  ${kind}: ${target}, for ${forMs} ms`),
  );
  write('No fault is left. What was accepted ends.');
  await load.finish();
  const missing = await house.ready(ENDING_MS);
  await webhooks.tryAgain();
  const pushed = new Set(worlds.pushed.map(addressOf));
  const { databaseUrl } = house.backends;
  const paymentNode = createTestClient({ mode: 'anvil', transport: http(house.payments.rpcUrl) });
  const makeBlock = () => paymentNode.mine({ blocks: 1 });
  const left = await untilEnded(databaseUrl, () => executedIn(databaseUrl, pushed), makeBlock, ENDING_MS);
  const notReady = missing.map((name) => `${name} is not ready although no fault is left`);
  const evidence = await gather(house, log.operations, pushed, webhooks);
  const logs = await readLogs(house.folder);
  const violations: Violation[] = [
    ...named('an end within the deadline', [...notReady, ...left]),
    ...(await findAll(databaseUrl, evidence)),
    ...named('answers keep the contract', client.wrong),
    ...named('no process ends by itself', house.lost),
    ...named('secrets stay secret', secretsIn(logs, [...house.secrets, ...webhooks.secrets])),
  ];
  if (keep !== '') await cp(house.folder, keep, { recursive: true, filter: isLogOrFolder(house.folder) });
  return {
    seed,
    operations: countNames(log.operations.map(({ kind, outcome }) => `${kind} ${outcome}`).sort()),
    answers: countAnswers(log.operations),
    entries: countNames(
      evidence.entries.map(({ kind, trigger, status }) => [kind, trigger, status].filter(Boolean).join(' ')),
    ),
    faults: countNames(played.map(({ kind }) => kind)),
    internal: client.internal.map((one) => ({ ...one, lines: linesAbout(logs, one.requestId) })),
    violations,
    played,
  };
}

const isLogOrFolder = (folder: string) => (path: string) => path === folder || path.endsWith('.log');

/** The chain's account that mints sends one transaction after the other. */
function oneByOne({ payments }: House): (owner: Hex) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  return (owner) => {
    const next = last.then(() => payments.fund(owner, PRICE));
    last = next.catch(() => undefined);
    return next;
  };
}

async function executedIn(databaseUrl: string, pushed: ReadonlySet<string>): Promise<number> {
  const entries = await readEntries(databaseUrl);
  return entries.filter(
    ({ deployment, kind, status }) =>
      pushed.has(deployment) && kind === 'execution' && status === 'succeeded',
  ).length;
}

async function gather(
  house: House,
  operations: readonly Operation[],
  pushed: ReadonlySet<string>,
  webhooks: Webhooks,
): Promise<Evidence> {
  const { backends, payments, chain, model } = house;
  const node = createPublicClient({ transport: http(chain.anvil.url) });
  return {
    operations,
    pushed,
    entries: await readEntries(backends.databaseUrl),
    payments: await readPayments(backends.databaseUrl),
    charges: await readCharges(payments.chain, payments.token),
    received: await payments.balanceOf(RECEIVER),
    pushes: await readChainPushes(node, chain.contract as Hex),
    webhooks: webhooks.received(),
    asked: model.calls.map(operationOf),
  };
}
