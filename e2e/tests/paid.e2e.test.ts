import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { repositoryRoot } from '@orrery/testing/system';
import { HTTPFacilitatorClient } from '@x402/core/http';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { ExactEvmSchemeV1 } from '@x402/evm/v1';
import { withBazaar } from '@x402/extensions/bazaar';
import { appendPaymentIdentifierToExtensions } from '@x402/extensions/payment-identifier';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { withX402Client } from 'agents/x402';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ApiAnswer } from '../src/api/api-client.js';
import { createAnswerCheck } from '../src/api/check-answer.js';
import { startPaidHouse } from '../src/public/paid-house.js';
import { createWallet } from '../src/public/signing-wallet.js';
import { commandLine } from '../src/starting/command-line.js';
import { PRICE, RECEIVER } from '../src/worlds/toasts.js';
import { type PublicRequests, publicRequests } from './public-suite.js';

const run = promisify(execFile);
const decoded = (header: string | null) => JSON.parse(Buffer.from(header ?? '', 'base64').toString('utf8'));
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

describe('clients that pay', () => {
  let house: Awaited<ReturnType<typeof startPaidHouse>>;
  let send: PublicRequests;
  let earned: bigint;
  beforeAll(async () => {
    house = await startPaidHouse();
    send = publicRequests(house.system.url, house.world);
    earned = 0n;
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  /** Each payment moves the price to the receiver, once. */
  const expectEarned = async (payments: bigint) => {
    earned += payments * PRICE;
    expect(await house.evm.balanceOf(RECEIVER)).toBe(earned);
  };
  const run60 = (file: string, args: string[], env: object = {}) =>
    run(process.execPath, [file, ...args], { cwd: repositoryRoot, env: { ...process.env, ...env } });

  it('are told what to pay in both versions, and are not charged for asking', async () => {
    const { status, body, headers } = await send({ event: 'toast' });
    const url = `/app/deployments/${house.world.address}/execute`;
    const paid = { payTo: RECEIVER, asset: house.evm.token };
    expect([status, body.code]).toEqual([402, 'payment_required']);
    expect(body).toMatchObject({
      x402Version: 1,
      accepts: [{ ...paid, network: 'base-sepolia', maxAmountRequired: String(PRICE) }],
    });
    const demand = decoded(headers.get('payment-required'));
    expect(demand).toMatchObject({
      x402Version: 2,
      accepts: [{ ...paid, network: 'eip155:84532', amount: String(PRICE) }],
    });
    for (const resource of [body.accepts[0].resource, demand.resource.url])
      expect(new URL(resource).pathname).toBe(url);
    await expectEarned(0n);
  });

  it('may use @x402/fetch, version 2', async () => {
    const client = registerExactEvmScheme(new x402Client(), {
      signer: privateKeyToAccount(await house.newPayer()),
    });
    const { address } = house.world;
    const signed = createWallet().sign({ deployment: address, event: 'toast' });
    const path = `/app/deployments/${address}/execute`;
    const answer = await wrapFetchWithPayment(fetch, client)(`${house.system.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ event: 'toast', input: { name: 'fetch' }, ...signed }),
    });
    const { status, headers } = answer;
    const body: ApiAnswer['body'] = await answer.json();
    createAnswerCheck()('POST', path, { status, headers, body });
    expect(body.data.stateChanges['guest:fetch']).toMatchObject({ visits: 1, by: signed.wallet });
    const settled = decoded(headers.get('payment-response'));
    expect(settled).toMatchObject({ success: true, network: 'eip155:84532' });
    const entry = await house.api.get(`${house.world.path}/history/${body.data.historyId}`);
    expect(entry.body.data.payment).toMatchObject({ status: 'settled', transaction: settled.transaction });
    await expectEarned(1n);
  });

  it('may be @x402/fetch with nothing but an input, and are listed then in a catalogue', async () => {
    const { system, world, evm } = house;
    const key = await house.newPayer();
    const payer = privateKeyToAccount(key);
    const client = registerExactEvmScheme(new x402Client(), { signer: payer });
    const path = `/app/deployments/${world.address}/events/treat/execute`;
    const sendTo = (at: string) =>
      wrapFetchWithPayment(fetch, client)(`${system.url}${at}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ input: { name: 'agent' } }),
      });
    const bazaar = withBazaar(new HTTPFacilitatorClient({ url: evm.facilitator.url })).extensions.bazaar;
    expect((await bazaar.listResources()).items).toEqual([]);
    const answer = await sendTo(path);
    const { status, headers } = answer;
    const body: ApiAnswer['body'] = await answer.json();
    createAnswerCheck()('POST', path, { status, headers, body });
    expect(body.data.stateChanges['guest:agent']).toMatchObject({ visits: 1, by: payer.address });
    expect(decoded(headers.get('payment-response'))).toMatchObject({ success: true, payer: payer.address });
    const { items } = await bazaar.listResources({ type: 'http' });
    expect(items).toMatchObject([
      {
        serviceName: expect.any(String),
        accepts: [{ payTo: RECEIVER, amount: String(PRICE) }],
        extensions: { bazaar: { info: { input: { method: 'POST', body: { input: { name: 'text' } } } } } },
      },
    ]);
    // What the catalogue says is enough to call it.
    const [{ resource = '' } = {}] = items;
    expect(new URL(resource).pathname).toBe(path);
    expect((await sendTo(new URL(resource).pathname)).status).toBe(200);
    expect((await sendTo(path.replace('treat', 'toast'))).status).toBe(401);
    await expectEarned(2n);
  });

  it('are not charged again for a payment identifier, nor answered for another input', async () => {
    const { system, world } = house;
    const payer = privateKeyToAccount(await house.newPayer());
    const client = registerExactEvmScheme(new x402Client(), { signer: payer });
    const url = `${system.url}/app/deployments/${world.address}/events/treat/execute`;
    const post = (name: string, headers = {}) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ input: { name } }),
      });
    const pay = async (name: string) => {
      const demand = decoded((await post(name)).headers.get('payment-required'));
      appendPaymentIdentifierToExtensions(demand.extensions, 'order_0123456789');
      const payment = await client.createPaymentPayload(demand);
      return post(name, { 'payment-signature': encoded(payment) });
    };
    const first = await pay('order');
    const again = await pay('order');
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(await again.json()).toEqual(await first.json());
    const other = await pay('other order');
    const { code }: ApiAnswer['body'] = await other.json();
    expect([other.status, code]).toEqual([422, 'idempotency_key_reused']);
    await expectEarned(1n);
  });

  it('may be agents that pay in-band, by the MCP transport of x402', async () => {
    const { address } = house.world;
    const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    const url = new URL(`/mcp/deployments/${address}`, house.system.url);
    await client.connect(new StreamableHTTPClientTransport(url));
    onTestFinished(() => client.close());
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === 'toast')?._meta).toMatchObject({
      'orrery/priceUsd': Number(PRICE) / 1e6,
    });
    const signed = createWallet().sign({ deployment: address, event: 'toast' });
    const call = { name: 'toast', arguments: { name: 'mcp', ...signed } };
    const asked = await client.callTool(call);
    const { text } = asked.content[0] as { text: string };
    expect([asked.isError, JSON.parse(text)]).toEqual([true, asked.structuredContent]);
    expect(asked.structuredContent).toMatchObject({
      x402Version: 2,
      resource: { url: expect.stringContaining(`${url.pathname}#toast`) },
    });
    await expectEarned(0n);
    const payer = registerExactEvmScheme(new x402Client(), {
      signer: privateKeyToAccount(await house.newPayer()),
    });
    const payment = await payer.createPaymentPayload(asked.structuredContent as never);
    const paying = { ...call, _meta: { 'x402/payment': payment } } as never;
    const paid = await client.callTool(paying);
    expect(paid.structuredContent).toMatchObject({ stateChanges: { 'guest:mcp': { visits: 1 } } });
    expect(paid._meta).toMatchObject({ 'x402/payment-response': { success: true, network: 'eip155:84532' } });
    await expectEarned(1n);
    const again = await client.callTool(paying);
    expect([again.structuredContent, again._meta?.['x402/payment-response']]).toEqual([
      paid.structuredContent,
      paid._meta?.['x402/payment-response'],
    ]);
    const anew = createWallet().sign({ deployment: address, event: 'toast' });
    const spent = { name: 'toast', arguments: { name: 'mcp', ...anew }, _meta: { 'x402/payment': payment } };
    expect((await client.callTool(spent as never)).structuredContent).toMatchObject({
      code: 'payment_already_used',
    });
    await expectEarned(0n);
    // Nothing but an input, where the event lets the payer call.
    const treat = { name: 'treat', arguments: { name: 'paid alone' } };
    const offer = await client.callTool(treat);
    const alone = await payer.createPaymentPayload(offer.structuredContent as never);
    const done = await client.callTool({ ...treat, _meta: { 'x402/payment': alone } } as never);
    expect(done.structuredContent).toMatchObject({ stateChanges: { 'guest:paid alone': { visits: 1 } } });
    await expectEarned(1n);
  });

  it("may be the client of an agents' framework that wraps an MCP client: Cloudflare's", async () => {
    const { address } = house.world;
    const account = privateKeyToAccount(await house.newPayer());
    const client = new Client({ name: 'agents', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    const url = new URL(`/mcp/deployments/${address}`, house.system.url);
    await client.connect(new StreamableHTTPClientTransport(url));
    onTestFinished(() => client.close());
    const asked: string[] = [];
    const agent = withX402Client(client, { account, network: 'base-sepolia', maxPaymentValue: PRICE });
    const confirm = async (accepts: readonly { readonly amount: string }[]) => {
      asked.push(...accepts.map(({ amount }) => amount));
      return true;
    };
    const call = { name: 'treat', arguments: { name: 'cloud' } };
    const paid = await agent.callTool(confirm as never, call);
    expect(paid.structuredContent).toMatchObject({
      stateChanges: { 'guest:cloud': { visits: 1, by: account.address } },
    });
    expect(asked).toEqual([String(PRICE)]);
    await expectEarned(1n);
  });

  it('may speak version 1, and a repetition costs nothing', async () => {
    const sent = { event: 'toast', input: { name: 'v1' }, at: Date.now() - 500 };
    const { body } = await send(sent);
    const scheme = new ExactEvmSchemeV1(privateKeyToAccount(await house.newPayer()));
    const { payload } = await scheme.createPaymentPayload(1, body.accepts[0]);
    const payment = { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload };
    const headers = { 'x-payment': encoded(payment) };
    const first = await send({ ...sent, headers });
    expect(first.status).toBe(200);
    expect(decoded(first.headers.get('x-payment-response'))).toMatchObject({
      success: true,
      network: 'base-sepolia',
    });
    expect(first.headers.has('payment-response')).toBe(false);
    const again = await send({ ...sent, headers });
    expect(again.body).toEqual(first.body);
    const other = await send({ ...sent, at: Date.now(), headers, input: { name: 'v1 again' } });
    expect([other.status, other.body.code]).toEqual([402, 'payment_already_used']);
    await expectEarned(1n);
  });

  it('may be the command line, which pays only when asked to, and no more than allowed', async () => {
    const [wallet, key] = [join(house.folder, 'wallet.json'), join(house.folder, 'evm-key')];
    await writeFile(key, `${await house.newPayer()}\n`);
    const { run: cli, end } = commandLine({});
    await cli('wallets', 'create', wallet);
    const { system, world } = house;
    const target = ['--url', system.url, '--deployment', world.address, '--wallet', wallet];
    const execute = (...more: string[]) =>
      end('public', 'execute', ...target, '--event', 'toast', '--input', '{"name":"cli"}', ...more);
    const asked = `It costs $0.01: 10000 units of USDC on eip155:84532, to ${RECEIVER}.`;
    expect((await execute()).stderr).toBe(
      `The execution was refused (402). ${asked} Nothing was paid: to pay add --pay --max-usd 0.01 --evm-key <file with a private key>.\n`,
    );
    expect((await execute('--pay')).stderr).toMatch(/Without --evm-key the wallet itself pays, on Solana: /);
    expect((await execute('--pay', '--evm-key', key, '--max-usd', '0.001')).stderr).toBe(
      `The payment was not made. ${asked} --max-usd allows $0.001: to pay add --max-usd 0.01.\n`,
    );
    expect((await execute('--pay', '--evm-key', `${key}s`)).stderr).toBe(
      `There is no file ${key}s: --evm-key names a file with 0x and 64 hex digits.\n`,
    );
    await expectEarned(0n);
    const { stdout } = await execute('--pay', '--evm-key', key);
    expect(stdout).toContain('"guest:cli"');
    expect(stdout).toMatch(/paid: .*"success":true/);
    await expectEarned(1n);
  });

  it('may be the command line with a private key, which signs and pays, or pays alone', async () => {
    const { run: cli, end } = commandLine({});
    const made = join(house.folder, 'evm-wallet');
    const shown = await cli('wallets', 'create', made, '--evm');
    const { system, world } = house;
    const target = ['--url', system.url, '--deployment', world.address, '--input', '{"name":"evm"}'];
    const signed = await end('public', 'execute', ...target, '--event', 'enter', '--wallet', made);
    expect(JSON.parse(signed.stdout).stateChanges['guest:evm'].by).toBe(shown.trim());
    const key = join(house.folder, 'paying-key');
    const private_ = await house.newPayer();
    await writeFile(key, `${private_}\n`);
    const { address } = privateKeyToAccount(private_);
    const paid = await end('public', 'execute', ...target, '--event', 'toast', '--wallet', key, '--pay');
    expect(paid.stdout).toContain(address);
    const alone = await end('public', 'execute', ...target, '--event', 'treat', '--pay', '--evm-key', key);
    expect(alone.stdout).toContain(address);
    expect((await end('public', 'execute', ...target, '--event', 'treat')).stderr).toMatch(
      /^Who calls\? Add --wallet/,
    );
    await expectEarned(2n);
  });

  /** The first settlement is answered with an error, and nothing is charged; the next one is honest. */
  const beUnclearOnce = () => {
    const { facilitator } = house.evm;
    let calls = 0;
    facilitator.beforeSettling = async () => {
      calls += 1;
      facilitator.conduct = calls === 1 ? 'answers 500' : 'honest';
    };
  };

  it('are told with 202 that a payment is unclear, and find the outcome at its place or with the same request', async () => {
    const { system, world } = house;
    const sent = { event: 'toast', input: { name: 'unclear' }, at: Date.now() - 500 };
    const { body: asked } = await send(sent);
    const scheme = new ExactEvmSchemeV1(privateKeyToAccount(await house.newPayer()));
    const { payload } = await scheme.createPaymentPayload(1, asked.accepts[0]);
    const payment = { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload };
    const headers = { 'x-payment': encoded(payment) };
    beUnclearOnce();
    const first = await send({ ...sent, headers });
    expect([first.status, first.body.data]).toEqual([
      202,
      { kind: 'accepted', executionId: expect.any(String), state: 'awaiting_payment' },
    ]);
    const place = `/app/deployments/${world.address}/executions/${first.body.data.executionId}`;
    expect(first.headers.get('location')).toBe(place);
    const look = async (path = place) => {
      const answer = await fetch(`${system.url}${path}`);
      const { status, headers: given } = answer;
      const body: ApiAnswer['body'] = await answer.json();
      createAnswerCheck()('GET', path, { status, headers: given, body });
      return { status, body };
    };
    await vi.waitFor(async () => expect((await look()).body.data).toMatchObject({ state: 'succeeded' }));
    const { body } = await look();
    expect(body.data.answer.stateChanges['guest:unclear']).toMatchObject({ visits: 1 });
    const last = await send({ ...sent, headers });
    expect([last.status, last.body.data]).toEqual([200, body.data.answer]);
    expect(decoded(last.headers.get('x-payment-response'))).toMatchObject({ success: true });
    const absent = `${place.slice(0, -1)}${place.endsWith('0') ? '1' : '0'}`;
    expect((await look(absent)).body.code).toBe('execution_not_found');
    await expectEarned(1n);
  });

  it('wait, as the command line and the example, while a payment is unclear', async () => {
    const [wallet, key] = [join(house.folder, 'patient.json'), join(house.folder, 'patient-key')];
    await writeFile(key, `${await house.newPayer()}\n`);
    const { run: cli, end } = commandLine({});
    await cli('wallets', 'create', wallet);
    const { system, world } = house;
    const target = ['--url', system.url, '--deployment', world.address, '--wallet', wallet];
    beUnclearOnce();
    const what = ['--event', 'toast', '--input', '{"name":"patient"}', '--pay', '--evm-key', key];
    const { stdout, stderr } = await end('public', 'execute', ...target, ...what);
    expect(stderr).toMatch(/not known yet whether the payment was charged/);
    expect(stdout).toMatch(/"guest:patient"[\s\S]*paid: .*"success":true/);
    beUnclearOnce();
    const args = [system.url, world.address, 'toast', '{"name":"patient node"}'];
    const ran = await run60('examples/execute.mjs', args, { EVM_KEY: await house.newPayer() });
    expect(ran.stdout).toContain('"guest:patient node"');
    await expectEarned(2n);
  });

  it('may be the example for Node', async () => {
    const { system, world } = house;
    const args = [system.url, world.address, 'toast', '{"name":"node"}'];
    const unpaid = await run60('examples/execute.mjs', args, {}).catch((error: { stderr: string }) => error);
    expect(unpaid.stderr).toMatch(
      /^It costs 10000 units of \S+ on base-sepolia, to 0x\w+\.\nSet EVM_KEY to the private key/,
    );
    const { stdout } = await run60('examples/execute.mjs', args, { EVM_KEY: await house.newPayer() });
    expect(stdout).toMatch(/"guest:node"[\s\S]*paid: .*"success":true/);
    await expectEarned(1n);
  });
});
