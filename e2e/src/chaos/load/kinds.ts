import { systemClock } from '@orrery/service-kit';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { isUndecided } from '../../load/judge.js';
import { addressOf, type Operation, type OperationKind, type OperationLog } from '../../load/operation.js';
import { performOnce, performSurely } from '../../load/perform.js';
import { payWith } from '../../public/evm-offers.js';
import { createWallet } from '../../public/signing-wallet.js';
import { countRequest } from '../../worlds/counter-world.js';
import { OPEN_EVENTS } from '../../worlds/public-world.js';
import type { Random } from '../plan/random.js';
import type { ChaosClient } from './chaos-client.js';
import type { Worlds } from './worlds.js';

/** What an operation needs. */
export interface LoadContext {
  readonly client: ChaosClient;
  readonly random: Random;
  readonly log: OperationLog;
  readonly worlds: Worlds;
  /** Gives an account what an execution costs. */
  readonly fund: (owner: `0x${string}`) => Promise<void>;
  /** For how long a payer's authorization is valid, in seconds. */
  readonly validForS: number;
}

/** Does one operation of a kind, and notes its outcome. */
export type Perform = (context: LoadContext) => Promise<void>;

const keyOf = ({ number }: Operation) => ({ 'idempotency-key': `operation ${number}` });

/** Every third request has no key: its client knows less, and may not repeat it. */
const execute =
  (kind: OperationKind, paths: (worlds: Worlds) => readonly string[], event?: string): Perform =>
  async ({ client, random, log, worlds }) => {
    const path = random.anyOf(paths(worlds));
    const operation = log.begin(kind, addressOf(path));
    const body = { ...countRequest(operation.number), ...(event && eventOf(event, operation)) };
    const asked = { method: 'POST', path: `/api${path}/execute`, body };
    if (random.next() < 1 / 3) await performOnce(client, operation, asked);
    else {
      const keyed = { ...asked, headers: keyOf(operation) };
      await performSurely(client, operation, keyed, kind === 'ai' ? { again: isUndecided } : {});
    }
  };

const eventOf = (event: string, { number }: Operation) => ({ event, input: { operation: number } });

/** Asks for an execution, and then for its outcome. */
const asynchronous: Perform = async ({ client, random, log, worlds }) => {
  const path = `/api${random.anyOf(worlds.counting)}`;
  const operation = log.begin('asynchronous', addressOf(path));
  const asked = { method: 'POST', path: `${path}/execute`, body: countRequest(operation.number) };
  const headers = { ...keyOf(operation), prefer: 'respond-async' };
  for (let tries = 0; tries < 60; tries += 1) {
    const reply = await performOnce(client, operation, { ...asked, headers });
    if (!('answer' in reply) || reply.answer.status !== 202) {
      if (operation.outcome !== 'unknown') return;
      continue;
    }
    const { executionId } = reply.answer.body.data;
    const found = await client.ask({ method: 'GET', path: `${path}/executions/${executionId}` });
    const data = 'answer' in found ? found.answer.body?.data : undefined;
    if (data?.state === 'succeeded') {
      const { historyId, seq } = data.answer;
      Object.assign(operation, { outcome: 'ok', historyId, seq });
    }
    if (data?.state === 'failed') operation.outcome = 'fail';
    if (operation.outcome !== 'unknown') return;
    await systemClock.sleep(200);
  }
};

/** Asks for an execution in a second: it has succeeded once its timer is set, for it is executed then. */
const later: Perform = async ({ client, random, log, worlds }) => {
  const path = random.anyOf(worlds.counting);
  const operation = log.begin('later', addressOf(path));
  const body = { ...countRequest(operation.number), after: 'PT1S' };
  const asked = { method: 'POST', path: `/api${path}/execute`, body, headers: keyOf(operation) };
  for (let tries = 0; tries < 60; tries += 1) {
    const reply = await performOnce(client, operation, asked);
    if ('answer' in reply && reply.answer.status === 202) operation.outcome = 'ok';
    if (operation.outcome !== 'unknown') return;
    await systemClock.sleep(200);
  }
};

/** A wallet's request for an operation. */
function signedFor({ number, deployment }: Operation, event: string) {
  const signed = createWallet().sign({ deployment, event });
  const body = { event, input: { name: `operation ${number}` }, ...signed };
  return { method: 'POST', path: `/app/deployments/${deployment}/execute`, body };
}

/** A wallet's; one in three sends two copies of its message at once. */
const publicly: Perform = async ({ client, random, log, worlds }) => {
  const operation = log.begin('public', addressOf(random.anyOf(worlds.open)));
  const asked = signedFor(operation, OPEN_EVENTS[0]);
  const copies = random.next() < 1 / 3 ? [client.ask(asked)] : [];
  await Promise.all([performSurely(client, operation, asked), ...copies]);
};

const paid: Perform = async ({ client, random, log, worlds, fund, validForS }) => {
  const operation = log.begin('paid', addressOf(random.anyOf(worlds.open)));
  const asked = signedFor(operation, 'toast');
  const demand = await performOnce(client, operation, asked);
  if (!('answer' in demand) || demand.answer.status !== 402) return;
  const key = generatePrivateKey();
  operation.payer = privateKeyToAccount(key).address;
  await fund(privateKeyToAccount(key).address);
  const { headers } = await payWith(key, demand.answer.body, { maxTimeoutSeconds: validForS });
  await performSurely(client, operation, { ...asked, headers });
};

/** Creates an instance, replaces its state, or deletes it, by hand. */
const write: Perform = async ({ client, random, log, worlds }) => {
  const path = `/api${random.anyOf(worlds.counting)}/entity-instances`;
  const created = log.begin('write', addressOf(path.replace('/entity-instances', '')));
  const instanceId = `operation ${created.number}`;
  const body = { entitySchema: 'counter', instanceId, state: { value: created.number } };
  await performSurely(client, created, { method: 'POST', path, body, headers: keyOf(created) });
  if (created.outcome !== 'ok' || random.next() < 0.5) return;
  const one = `${path}/${encodeURIComponent(instanceId)}?entitySchema=counter`;
  const replaced = log.begin('write', created.deployment);
  const headers = { 'if-match': '"1"' };
  const state = { value: replaced.number };
  await performOnce(client, replaced, { method: 'PUT', path: one, body: { state }, headers });
};

/** Binds another version, or the same, of what leads or follows, while follow-ups are pending. */
const rebind: Perform = async ({ client, random, worlds }) => {
  const path = `/api${random.anyOf(worlds.following)}/event-bindings`;
  const body = [{ event: random.anyOf(['lead', 'follow']), eventVersion: random.anyOf([1, 2]) }];
  await client.ask({ method: 'PUT', path, body });
};

/** How often each kind is drawn, and how it is done. */
export const KINDS: readonly { readonly weight: number; readonly perform: Perform }[] = [
  { weight: 8, perform: execute('direct', ({ counting }) => counting) },
  { weight: 3, perform: execute('pushed', ({ pushed }) => pushed) },
  { weight: 3, perform: execute('ai', ({ judged }) => judged, 'judge') },
  { weight: 2, perform: asynchronous },
  { weight: 3, perform: later },
  { weight: 3, perform: execute('leading', ({ following }) => following, 'lead') },
  { weight: 1, perform: rebind },
  { weight: 3, perform: publicly },
  { weight: 2, perform: paid },
  { weight: 3, perform: write },
];
