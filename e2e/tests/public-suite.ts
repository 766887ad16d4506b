import type { System } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiClient, apiClient, checkedRequests } from '../src/api/api-client.js';
import { followStream } from '../src/api/follow-stream.js';
import { findViolations } from '../src/invariants/find-violations.js';
import { createWallet, type SigningWallet } from '../src/public/signing-wallet.js';
import type { MadeDeployment } from '../src/worlds/make-world.js';
import { CLOSED_EVENT, OPEN_EVENTS, publicWorld } from '../src/worlds/public-world.js';

type Start = (cleanUp: (() => Promise<void>)[]) => Promise<System>;

interface Sent {
  event?: string;
  input?: object;
  wallet?: SigningWallet;
  at?: number;
  /** What the path names; the deployment's address by default. */
  path?: string;
  headers?: Record<string, string>;
  /** Members of the body that replace others. */
  body?: object;
  /** Another gateway than the first. */
  url?: string;
}

export type PublicRequests = ReturnType<typeof publicRequests>;

/** Requests as the wallets of strangers make them; each answer is checked against the contract. */
export function publicRequests(url: string, { address }: MadeDeployment) {
  const wallet = createWallet();
  const to = new Map<string, ReturnType<typeof checkedRequests>>();
  return (sent: Sent = {}) => {
    const { event = OPEN_EVENTS[0], input = { name: 'ann' }, at, path = address, headers = {} } = sent;
    const signed = (sent.wallet ?? wallet).sign({ deployment: address, event, ...(at && { at }) });
    const target = sent.url ?? url;
    const request = to.get(target) ?? checkedRequests(target);
    to.set(target, request);
    const body = JSON.stringify({ event, input, ...signed, ...sent.body });
    return request('POST', `/app/deployments/${path}/execute`, body, headers);
  };
}

/** What strangers with a wallet may do, over HTTP alone. */
export function executePublicly(
  start: Start,
  more?: (
    running: () => { system: System; api: ApiClient; world: MadeDeployment; send: PublicRequests },
  ) => void,
): void {
  const cleanUp: (() => Promise<void>)[] = [];
  let running: { system: System; api: ApiClient; world: MadeDeployment; send: PublicRequests };
  beforeAll(async () => {
    const system = await start(cleanUp);
    const api = apiClient(system.url, system.key);
    const world = await publicWorld(api);
    running = { system, api, world, send: publicRequests(system.url, world) };
  });
  afterAll(async () => {
    await running?.system[Symbol.asyncDispose]();
    for (const release of cleanUp.reverse()) await release();
  });
  const codeOf = async (sent: Sent) => {
    const { status, body } = await running.send(sent);
    return `${status} ${body.code}`;
  };

  it('a wallet executes, and history and stream tell whose execution it was', async () => {
    const { system, api, world, send } = running;
    await using stream = await followStream(system, world.path);
    const wallet = createWallet();
    const { status, body } = await send({ wallet });
    expect([status, body.data.stateChanges]).toEqual([
      200,
      { 'guest:ann': { visits: 1, by: wallet.address } },
    ]);
    expect(await stream.next()).toBe(body.data.seq);
    const history = await api.get(`${world.path}/history?trigger=public`);
    expect(history.body.data[0]).toMatchObject({
      id: body.data.historyId,
      trigger: 'public',
      caller: `wallet:${wallet.address}`,
      payment: null,
    });
  });

  it('the path may hold the id, and names may hold colons and any script', async () => {
    const { world, send } = running;
    expect((await send({ path: String(world.id) })).status).toBe(200);
    for (const event of OPEN_EVENTS) expect((await send({ event })).body.data.event).toBe(event);
  });

  it('a repetition gets the first answer; the same message with another input is refused', async () => {
    const { send } = running;
    const sent = { at: Date.now() - 1000, input: { name: 'bob' } };
    const first = await send(sent);
    expect((await send(sent)).body).toEqual(first.body);
    expect(await codeOf({ ...sent, input: { name: 'eve' } })).toBe('401 message_already_used');
  });

  it('says what it expected where it refuses', async () => {
    const { world, send, api } = running;
    const stranger = createWallet().address;
    const expected = `orrery:${world.address}:${OPEN_EVENTS[0]}:`;
    expect(await codeOf({ body: { wallet: stranger } })).toBe('401 invalid_signature');
    const mismatch = await send({ body: { event: CLOSED_EVENT } });
    expect(mismatch.body).toMatchObject({
      status: 401,
      code: 'message_mismatch',
      facts: { expected: expected.replace(OPEN_EVENTS[0], CLOSED_EVENT) },
    });
    expect(await codeOf({ at: Date.now() - 301_000 })).toBe('401 message_expired');
    expect(await codeOf({ event: CLOSED_EVENT })).toBe('403 event_not_public');
    expect(await codeOf({ event: 'unbound' })).toBe('400 event_not_bound');
    expect(await codeOf({ input: { name: 7 } })).toBe('400 invalid_input');
    expect(await codeOf({ path: `0x${'0'.repeat(40)}` })).toBe('404 deployment_not_found');
    expect(await codeOf({ body: { wallet: 'short' } })).toBe('400 validation_failed');
    expect(await codeOf({ body: { signature: '2'.repeat(80) } })).toBe('400 validation_failed');
    expect(await codeOf({ headers: { 'x-payment': '?' } })).toBe('400 invalid_payment');
    await api.post(`${world.path}/pause`);
    expect(await codeOf({})).toBe('409 deployment_paused');
    await api.post(`${world.path}/resume`);
    await api.post(`${world.path}/unpublish`);
    expect(await codeOf({})).toBe('403 deployment_not_public');
    await api.post(`${world.path}/publish`);
  });

  more?.(() => running);

  it('leaves a history that verifies, and no invariant broken', async () => {
    const { system, api, world } = running;
    expect((await api.get(`${world.path}/history/verify`)).body.data.valid).toBe(true);
    expect(await findViolations(system.databaseUrl)).toEqual([]);
  });
}
