import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import tls from 'node:tls';
import type { WebhookConfig } from '@orrery/chain-pusher/config';
import type { JournalFact } from '@orrery/contracts';
import { Resources } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import {
  type Behaviour,
  makeCertificate,
  type ReceivedDelivery,
  startWebhookReceiver,
} from '@orrery/testing/servers';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { readNetworks } from '../src/core/webhooks/address-rules.js';
import type { Resolve } from '../src/delivering/connect-to.js';
import { prepareHouse } from './running-pusher.js';

export const LOOPBACK = readNetworks('127.0.0.0/8') ?? new BlockList();

let files: { key: string; certificate: string };
/** Of the file that runs: files of one worker share this module. */
let shared: Resources;
const trusted = tls.getCACertificates('default');

/** Has this process trust the receivers of this file. */
export function trustReceivers(): void {
  beforeAll(async () => {
    shared = new Resources(PATIENT);
    files = await makeCertificate(shared);
    tls.setDefaultCACertificates([...trusted, readFileSync(files.certificate, 'utf8')]);
  });
  afterAll(async () => {
    tls.setDefaultCACertificates(trusted);
    await shared.release();
  });
}

/** Fails, and is not tried again by itself within a test, however long that takes. */
export const failsForLong: Behaviour = (_delivery, response) => {
  response.writeHead(500, { 'retry-after': '3600' }).end();
  return 'own';
};

export const newReceiver = () => startWebhookReceiver(shared, files);

/** A house with one chain-pusher that sends webhooks to loopback, and a receiver. */
export async function webhookHouse(options: Partial<WebhookConfig> = {}, resolveName?: Resolve) {
  const house = await prepareHouse();
  const keys = [randomBytes(32)];
  const config = { keys, allowedNetworks: LOOPBACK, pollMs: 300, ...options };
  const boot = (more: Partial<WebhookConfig> = {}) =>
    house.bootWith({ webhooks: { ...config, ...more } }, resolveName);
  const pusher = await boot();
  const receiver = await newReceiver();
  const deployment = house.runtime.createDeployment();
  const params = { worldAddress: '1', address: deployment };
  const create = async (body: object = {}, path = '/hook') =>
    (await house.call('webhooks.create', { params, body: { url: receiver.url + path, ...body } })).data;
  const of = (webhookId: string) => ({ params: { ...params, webhookId } });
  const get = async (id: string) => (await house.call('webhooks.get', of(id))).data;
  const deliveries = async (id: string) =>
    (await house.call('webhooks.deliveries', { ...of(id), query: { page: 1, limit: 100 } })).data;
  /** Executes and tells the chain-pusher. */
  const execute = async (parts: Parameters<typeof house.runtime.execute>[1] & Partial<JournalFact> = {}) => {
    const entry = house.runtime.execute(deployment, parts);
    await house.runtime.tell(deployment);
    return entry;
  };
  /** What came to a path, in order. */
  const received = (path = '/hook') => receiver.deliveries.filter((one) => one.path === path);
  const waitFor = (count: number, path?: string) =>
    vi.waitFor(() => expect(received(path).length).toBeGreaterThanOrEqual(count));
  return {
    ...{ house, keys, boot, pusher, receiver, deployment, params, create, of, get, deliveries },
    ...{ execute, received, waitFor },
  };
}

/** Verifies as a receiver does. @throws unless it comes from who knows the secret */
export const verified = (secret: string, { body, headers }: ReceivedDelivery): JournalFact =>
  new Webhook(secret).verify(body, headers as Record<string, string>) as JournalFact;
