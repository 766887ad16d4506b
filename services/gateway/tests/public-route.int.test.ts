import { type JsonObject, publicContract, ServiceError } from '@orrery/contracts';
import bs58 from 'bs58';
import fc from 'fast-check';
import nacl from 'tweetnacl';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { perMinute } from '../src/core/rates/token-bucket.js';
import type { RoutedRpc } from '../src/core/requests/operation.js';
import { createExecuteForWallet, type ExecuteForWallet } from '../src/public/signed-route.js';
import { createWalletVerifier } from '../src/wallets/verify-wallet.js';
import { fakeApp } from './support/fake-app.js';

const ADDRESS = `0x${'ab'.repeat(20)}`;
const DATA = {
  kind: 'committed' as const,
  historyId: 'h',
  seq: 2,
  event: 'enter',
  eventVersion: 1,
  stateChanges: {},
  result: null,
  attestation: null,
  pushes: [],
};
const EVM = `0x${'12'.repeat(20)}`;
const newPair = () => nacl.sign.keyPair();
const pair = newPair();
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

function bodyOf({ publicKey, secretKey } = pair, message = `orrery:${ADDRESS}:enter:${Date.now()}`) {
  const signature = bs58.encode(nacl.sign.detached(Buffer.from(message, 'utf8'), secretKey));
  return { event: 'enter', input: { a: 1 }, wallet: bs58.encode(publicKey), message, signature };
}

type Headers = Record<string, string | string[]>;

function publicApp(
  answer: ExecuteForWallet = async () => ({ data: DATA, payment: null }),
  rates: Parameters<typeof fakeApp>[0] = {},
) {
  const calls: Parameters<ExecuteForWallet>[] = [];
  const executeForWallet: ExecuteForWallet = (...call) => {
    calls.push(call);
    return answer(...call);
  };
  const routes = Object.values(publicContract.rpcs) as RoutedRpc[];
  const { app } = fakeApp({ routes, executeForWallet, publicUrl: 'https://orrery.example', ...rates });
  const post = (body: object = bodyOf(), headers: Headers = {}, path = ADDRESS) =>
    app.inject({ method: 'POST', url: `/app/deployments/${path}/execute`, headers, payload: body });
  const codeOf = async (...sent: Parameters<typeof post>) => {
    const answered = await post(...sent);
    return `${answered.statusCode} ${answered.json().code}`;
  };
  return { app, calls, post, codeOf };
}

describe('the route of public execution', () => {
  it('calls for the wallet, with what the wallet signed and no token', async () => {
    const { post, calls } = publicApp();
    const body = bodyOf();
    const answered = await post(body, { authorization: 'Bearer anything' }, '17');
    expect([answered.statusCode, answered.json()]).toEqual([200, { success: true, data: DATA }]);
    expect(calls[0]?.[0]).toEqual({
      deployment: '17',
      event: 'enter',
      input: { a: 1 },
      message: body.message,
      payment: null,
      awaitsRun: false,
      atEvent: false,
      resource: 'https://orrery.example/app/deployments/17/execute',
    });
    expect(calls[0]?.[1]).toMatchObject({
      caller: { kind: 'wallet', wallet: body.wallet },
      principal: undefined,
    });
  });

  it('takes the event from the path, and a call that a payment alone makes', async () => {
    const { app, calls } = publicApp();
    const url = `/app/deployments/${ADDRESS}/events/${encodeURIComponent('a/b é')}/execute`;
    const send = (payload: object, headers = {}) => app.inject({ method: 'POST', url, payload, headers });
    const payload = { x402Version: 2, accepted: {}, payload: {} };
    const answered = await send(
      { input: { a: 1 } },
      { 'payment-signature': base64(payload), host: 'evil.example' },
    );
    expect([answered.statusCode, answered.json()]).toEqual([200, { success: true, data: DATA }]);
    expect(calls[0]?.[0]).toEqual({
      deployment: ADDRESS,
      event: 'a/b é',
      input: { a: 1 },
      message: null,
      payment: { version: 2, payload },
      awaitsRun: false,
      atEvent: true,
      resource: `https://orrery.example/app/deployments/${ADDRESS}/execute`,
    });
    expect(calls[0]?.[1].caller).toEqual({ kind: 'anonymous' });
    const signed = bodyOf(pair, `orrery:${ADDRESS}:a/b é:${Date.now()}`);
    expect((await send({ ...signed, event: 'a/b é' })).statusCode).toBe(200);
    expect(calls[1]?.[1].caller).toEqual({ kind: 'wallet', wallet: signed.wallet });
    expect((await send({ ...signed, event: 'other' })).json()).toMatchObject({
      code: 'conflicting_fields',
      status: 400,
    });
    for (const member of ['wallet', 'message', 'signature']) {
      const { errors } = (await send({ ...signed, event: 'a/b é', [member]: undefined })).json();
      expect(errors).toMatchObject([{ pointer: `/${member}` }]);
    }
    expect(calls).toHaveLength(2);
  });

  it('answers 202 with the place of the status while the payment of an execution is unclear', async () => {
    const awaited = {
      kind: 'accepted' as const,
      executionId: '01900000-0000-7000-8000-000000000000',
      state: 'awaiting_payment' as const,
    };
    const { post } = publicApp(async () => ({ data: awaited, payment: null }));
    const { statusCode, headers, json } = await post();
    expect([statusCode, json()]).toEqual([202, { success: true, data: awaited }]);
    expect(headers).toMatchObject({
      location: `/app/deployments/${ADDRESS}/executions/${awaited.executionId}`,
    });
    expect(headers).not.toHaveProperty('preference-applied');
  });

  it('refuses what is no wallet, signature or message by its shape, before it verifies', async () => {
    const { post, calls } = publicApp();
    const body = bodyOf();
    const wrong: [string, object][] = [
      ['/wallet', { wallet: '' }],
      ['/wallet', { wallet: '0OIl' }],
      ['/wallet', { wallet: bs58.encode(new Uint8Array(31).fill(7)) }],
      ['/wallet', { wallet: bs58.encode(new Uint8Array(33).fill(7)) }],
      ['/wallet', { wallet: 'z'.repeat(44) }],
      ['/wallet', { wallet: ` ${body.wallet}` }],
      ['/wallet', { wallet: 7 }],
      ['/wallet', { wallet: '0xd8DA6BF26964aF9D7eEd9e03E53415D37aA96045' }],
      ['/wallet', { wallet: `eip155:0:0x${'12'.repeat(20)}` }],
      ['/signature', { wallet: `0x${'12'.repeat(20)}` }],
      ['/signature', { wallet: `0x${'12'.repeat(20)}`, signature: `0x${'12'.repeat(64)}` }],
      ['/signature', { signature: `0x${'12'.repeat(65)}` }],
      ['/signature', { wallet: `eip155:10:0x${'12'.repeat(20)}`, signature: `0x${'12'.repeat(4096)}` }],
      ['/signature', { signature: bs58.encode(new Uint8Array(63).fill(7)) }],
      ['/signature', { signature: 'z'.repeat(88) }],
      ['/signature', { signature: '2'.repeat(100_000) }],
      ['/message', { message: '' }],
      ['/message', { message: 'x'.repeat(1025) }],
      ['/message', { message: undefined }],
      ['/wallet', { wallet: undefined }],
      ['/event', { event: ' enter' }],
      ['/input', { input: [] }],
      ['/more', { more: 1 }],
    ];
    for (const [pointer, members] of wrong) {
      const { statusCode, ...answered } = await post({ ...body, ...members });
      const { code, errors } = answered.json();
      expect([members, statusCode, code, errors[0].pointer]).toEqual([
        members,
        400,
        'validation_failed',
        pointer,
      ]);
    }
    expect(calls).toEqual([]);
  });

  it('refuses signatures of another wallet or text, small-order keys and malleable twins', async () => {
    const { codeOf, post, calls } = publicApp();
    const body = bodyOf();
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const bytes = Buffer.from(bs58.decode(body.signature));
    const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`) + order;
    const twin = Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse();
    const one = Uint8Array.from({ length: 32 }, (_, at) => (at === 0 ? 1 : 0));
    const neutral = bs58.encode(Buffer.concat([one, new Uint8Array(32)]));
    for (const members of [
      { message: `${body.message} ` },
      { wallet: bs58.encode(newPair().publicKey) },
      { signature: bs58.encode(Buffer.concat([bytes.subarray(0, 32), twin])) },
      { wallet: bs58.encode(one), signature: neutral },
    ])
      expect(await codeOf({ ...body, ...members })).toBe('401 invalid_signature');
    expect((await post({ ...body, message: 'x' })).headers['www-authenticate']).toBe('Wallet realm="orrery"');
    expect(calls).toEqual([]);
  });

  it('may be called by a page of any origin, also by one that pays with the x402 packages', async () => {
    const { app, post } = publicApp();
    const preflight = await app.inject({
      method: 'OPTIONS',
      url: `/app/deployments/${ADDRESS}/execute`,
      headers: { origin: 'https://page.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.statusCode).toBe(204);
    for (const name of ['content-type', 'x-payment', 'payment-signature', 'access-control-expose-headers'])
      expect(preflight.headers['access-control-allow-headers']).toContain(name);
    const { headers } = await post();
    expect(headers['access-control-allow-origin']).toBe('*');
    for (const name of ['payment-required', 'payment-response', 'x-payment-response'])
      expect(headers['access-control-expose-headers']).toContain(name);
  });
});

describe('rate limits of public execution', () => {
  const rates = {
    key: perMinute('key', 1000),
    address: perMinute('address', 6),
    reading: perMinute('reading', 1),
    verification: perMinute('verification', 1),
    wallet: perMinute('wallet', 3),
    node: perMinute('node', 2),
    signIn: perMinute('sign-in', 1),
  };

  it('count a client address before the signature is checked', async () => {
    const { codeOf, post } = publicApp(undefined, { rates });
    for (let n = 0; n < 6; n += 1)
      expect(await codeOf({ ...bodyOf(), message: 'another' })).toBe('401 invalid_signature');
    const refused = await post({ ...bodyOf(), message: 'another' });
    expect([refused.statusCode, refused.json().code]).toEqual([429, 'rate_limited']);
    expect(refused.headers).toMatchObject({
      'retry-after': expect.stringMatching(/^\d+$/),
      'ratelimit-policy': '"address";q=6;w=60',
    });
  });

  it('count a client address before the node of a chain is asked', async () => {
    const asked: string[] = [];
    const wallets = createWalletVerifier({ 10: [] }, async ({ address }) => asked.push(address) > 0);
    const { codeOf, post, calls } = publicApp(undefined, { rates, wallets });
    const wallet = `eip155:10:0x${'12'.repeat(20)}`;
    const body = { ...bodyOf(), wallet, signature: `0x${'01'.repeat(300)}` };
    for (let n = 0; n < 2; n += 1) expect((await post(body)).statusCode).toBe(200);
    expect(await codeOf(body)).toBe('429 rate_limited');
    expect((await post(body)).headers['ratelimit-policy']).toBe('"address";q=6;w=60');
    expect(asked).toHaveLength(2);
    expect(calls[0]?.[1].caller).toEqual({ kind: 'wallet', wallet });
  });

  it('count a wallet in a deployment after it, whichever form the path has', async () => {
    const { post } = publicApp(undefined, { rates: { ...rates, address: perMinute('address', 1000) } });
    const statuses = [];
    for (const path of [ADDRESS, '17', ADDRESS.toUpperCase().replace('X', 'x'), ADDRESS])
      statuses.push((await post(bodyOf(), {}, path)).statusCode);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await post(bodyOf(newPair()))).statusCode).toBe(200);
    const account = privateKeyToAccount(generatePrivateKey());
    const message = `orrery:${ADDRESS}:enter:${Date.now()}`;
    const signature = await account.signMessage({ message });
    const spelled = [
      account.address,
      account.address.toLowerCase(),
      `eip155:10:${account.address}`,
      account.address,
    ];
    const ofKey = [];
    for (const wallet of spelled)
      ofKey.push((await post({ event: 'enter', wallet, message, signature })).statusCode);
    expect(ofKey).toEqual([200, 200, 200, 429]);
    const elsewhere = bodyOf(pair, `orrery:0x${'cd'.repeat(20)}:enter:${Date.now()}`);
    const { statusCode, headers } = await post(elsewhere);
    expect([statusCode, headers['ratelimit']]).toEqual([200, '"wallet";r=2;t=20']);
  });
});

describe('the headers of payments', () => {
  const one = { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload: {} };
  const two = { x402Version: 2, accepted: {}, payload: { signature: '0x' } };

  it('are handed on decoded, by their version', async () => {
    const { post, calls } = publicApp();
    await post(bodyOf(), { 'x-payment': base64(one) });
    await post(bodyOf(), { 'Payment-Signature': base64(two) });
    expect(calls.map(([{ payment }]) => payment)).toEqual([
      { version: 1, payload: one },
      { version: 2, payload: two },
    ]);
  });

  const malformed: [string, Headers][] = [
    ['no base64', { 'x-payment': '?' }],
    ['the URL alphabet of base64', { 'x-payment': `${base64(one).slice(0, -3)}_-=` }],
    ['an empty text', { 'x-payment': '' }],
    ['no JSON', { 'x-payment': Buffer.from('{').toString('base64') }],
    ['no UTF-8', { 'x-payment': Buffer.from([0x22, 0xff, 0x22]).toString('base64') }],
    ['no object', { 'x-payment': base64([one]) }],
    ['null', { 'x-payment': base64(null) }],
    ['a polluting key', { 'x-payment': Buffer.from('{"x402Version":1,"__proto__":{}}').toString('base64') }],
    ['an infinite number', { 'x-payment': Buffer.from('{"x402Version":1,"n":1e400}').toString('base64') }],
    ['U+0000', { 'x-payment': base64({ ...one, text: '\u0000' }) }],
    ['a lone surrogate', { 'x-payment': Buffer.from('{"x402Version":1,"t":"\\ud800"}').toString('base64') }],
    ['33 levels', { 'x-payment': base64({ ...one, deep: JSON.parse('['.repeat(33) + ']'.repeat(33)) }) }],
    ['9 KiB', { 'x-payment': base64({ ...one, long: 'x'.repeat(9 * 1024) }) }],
    ['version 2 in the header of version 1', { 'x-payment': base64(two) }],
    ['version 1 in the header of version 2', { 'payment-signature': base64(one) }],
    ['no version', { 'x-payment': base64({ payload: {} }) }],
    ['both versions', { 'x-payment': base64(one), 'payment-signature': base64(two) }],
    ['the same header twice', { 'x-payment': [base64(one), base64(one)] }],
    ['two values in one header', { 'x-payment': `${base64(one)}, ${base64(one)}` }],
  ];
  it.each(malformed)('with %s are 400, before the signature is verified', async (_what, headers) => {
    const { codeOf, calls } = publicApp();
    expect(await codeOf({ ...bodyOf(), message: 'not signed' }, headers)).toBe('400 invalid_payment');
    expect(calls).toEqual([]);
  });

  it('tell how a payment was settled, in the version that paid', async () => {
    const response = { success: true, transaction: '0x1', network: 'base-sepolia', payer: '0x2' };
    const settled = (version: 1 | 2) =>
      publicApp(async () => ({ data: DATA, payment: { version, response } }));
    const [first, second] = [(await settled(1).post()).headers, (await settled(2).post()).headers];
    expect([first['x-payment-response'], first['payment-response']]).toEqual([base64(response), undefined]);
    expect([second['x-payment-response'], second['payment-response']]).toEqual([undefined, base64(response)]);
  });

  it('tell in a 402 what to pay: version 1 in the body, version 2 in a header', async () => {
    const accepts = [{ scheme: 'exact', network: 'base-sepolia', maxAmountRequired: '10000' }];
    const paymentRequired: JsonObject = {
      x402Version: 2,
      accepts: [{ network: 'eip155:84532', amount: '1' }],
    };
    const { post } = publicApp(async () => {
      throw new ServiceError('payment_required', undefined, { facts: { accepts, paymentRequired } });
    });
    const { statusCode, headers, ...answered } = await post();
    expect([statusCode, headers['payment-required']]).toEqual([402, base64(paymentRequired)]);
    const { error, requestId: _, ...body } = answered.json();
    expect(error).toEqual(expect.any(String));
    expect(body).toEqual({
      success: false,
      x402Version: 1,
      accepts,
      code: 'payment_required',
      type: 'urn:orrery:problem:payment_required',
      title: 'Payment is required',
      status: 402,
      detail: error,
      instance: `/app/deployments/${ADDRESS}/execute`,
    });
  });
});

describe('whatever strangers send', () => {
  it('is answered below 500, and reaches the runtime only with a signature', async () => {
    const { app, calls } = publicApp();
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.base64String(),
      fc.constantFrom('', '0x', '11111'),
    );
    const members = fc.record(
      {
        event: fc.oneof(text, fc.jsonValue()),
        input: fc.jsonValue(),
        wallet: fc.oneof(text, fc.constantFrom(bodyOf().wallet, EVM, `eip155:10:${EVM}`)),
        signature: fc.oneof(text, fc.constantFrom(bodyOf().signature, `0x${'12'.repeat(65)}`)),
        message: fc.oneof(text, fc.constant(bodyOf().message)),
      },
      { requiredKeys: [] },
    );
    const header = fc.string({ unit: 'grapheme-ascii', maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(fc.oneof(members, fc.jsonValue()), text, header, async (body, path, payment) => {
        const { statusCode } = await app.inject({
          method: 'POST',
          url: `/app/deployments/${encodeURIComponent(path.toWellFormed())}/execute`,
          headers: { 'content-type': 'application/json', 'x-payment': payment },
          payload: JSON.stringify(body),
        });
        expect(statusCode).toBeGreaterThanOrEqual(400);
        expect(statusCode).toBeLessThan(500);
      }),
      { numRuns: 300 },
    );
    expect(calls).toEqual([]);
  });
});

describe('a call without an outcome', () => {
  const lost = new ServiceError('unavailable', undefined, { facts: { outcome: 'unknown' } });
  const late = new ServiceError('deadline_exceeded', undefined, { facts: { executionId: 'run' } });
  const called = (outcomes: (() => unknown)[]) => {
    const seen: object[] = [];
    const call = async (_rpc: unknown, request: object) => {
      seen.push(request);
      return outcomes[seen.length - 1]?.();
    };
    const execute = createExecuteForWallet({ call } as never, { onError: () => undefined, longerMs: 0 });
    return { seen, outcome: execute({ awaitsRun: false } as never, {} as never) };
  };

  it.each([
    ['process is lost', lost],
    ['run takes longer than a call', late],
  ])('whose %s is repeated with the same message, and then waits', async (_why, error) => {
    const reply = { data: DATA, payment: null };
    const { seen, outcome } = called([
      () => {
        throw error;
      },
      () => reply,
    ]);
    expect(await outcome).toBe(reply);
    expect(seen).toEqual([{ awaitsRun: false }, { awaitsRun: true }]);
  });

  it('is not repeated for any other error', async () => {
    const { seen, outcome } = called([
      () => {
        throw new ServiceError('deployment_paused');
      },
    ]);
    await expect(outcome).rejects.toMatchObject({ code: 'deployment_paused' });
    expect(seen).toHaveLength(1);
  });
});
