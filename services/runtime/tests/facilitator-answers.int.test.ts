import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import type { Logger } from '@orrery/service-kit';
import { listen } from '@orrery/testing/servers';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Payment } from '../src/core/payments/payment.js';
import { requirementOf } from '../src/core/payments/requirements.js';
import { createHttpFacilitator } from '../src/runs/payments/http-facilitator.js';

type Answers = (request: IncomingMessage, response: ServerResponse) => void;

const KIB = 1024;
/** Long enough for an answer on a busy machine. A body that never ends takes all of it where it is read whole. */
const PATIENCE_MS = 9_000;

let answers: Answers = () => undefined;
let server: Awaited<ReturnType<typeof listen>>;
/** What reached the address that redirects lead to. */
const elsewhere: string[] = [];
const warn = vi.fn();
const logger = { warn } as unknown as Logger;

beforeAll(async () => {
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    if (request.url?.startsWith('/elsewhere')) {
      elsewhere.push(body);
      return answering(200, {
        isValid: true,
        success: true,
        transaction: '',
        network: 'base-sepolia',
        kinds,
      })(request, response);
    }
    answers(request, response);
  };
  server = await listen(createServer((request, response) => void handle(request, response)));
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  elsewhere.length = 0;
  warn.mockClear();
});

const kinds = [
  { x402Version: 2, scheme: 'exact', network: 'solana-devnet', extra: { feePayer: 'a payer of fees' } },
];
const onSolana = { network: 'solana-devnet', caip2: 'solana:devnet' } as const;

/** Answers with JSON, which spaces make as long as `bytes`. */
const answering =
  (status: number, body: object, bytes = 0): Answers =>
  (_, response) =>
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(body).padEnd(bytes));

/** A small gzip stream whose content has no end. */
const endless =
  (status: number): Answers =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    const gzip = createGzip();
    gzip.pipe(response);
    const spaces = Buffer.alloc(256 * KIB, ' ');
    const more = () => {
      if (!response.destroyed) gzip.write(spaces, () => setImmediate(more));
    };
    more();
  };

const redirecting: Answers = ({ url }, response) =>
  response.writeHead(307, { location: `/elsewhere${url}` }).end();

function payment(): Payment {
  const names = { network: 'base-sepolia', caip2: 'eip155:84532', family: 'evm', decimals: 6 } as const;
  const token = { ...names, asset: `0x${'1'.repeat(40)}`, name: 'USDC', version: '2', rpcUrls: [] };
  const price = { priceUsd: 0.01, payTo: `0x${'2'.repeat(40)}`, maxTimeoutSeconds: 60 };
  const requirement = requirementOf(token, price, {});
  const resource = { url: 'http://localhost', description: '' };
  return { x402Version: 2, key: 'a key', requirement, resource, payload: {} } as unknown as Payment;
}

const facilitator = () => createHttpFacilitator(`${server.url}/`, logger);
const settled = () => facilitator().settle(payment(), PATIENCE_MS);

describe('an answer of the facilitator', () => {
  it.each([200, 400, 500])(
    'to a settlement with the status %i that has no end is unclear',
    async (status) => {
      answers = endless(status);
      expect(await settled()).toEqual({ kind: 'unclear', reason: 'no_clear_reply' });
      const message = 'the facilitator gave an answer that is too large';
      expect(warn.mock.calls).toMatchObject([[{ err: { message, status } }, expect.anything()]]);
    },
  );

  it('that refuses a settlement is none beyond 64 KiB', async () => {
    const refusal = { success: false, errorReason: 'insufficient_funds' };
    answers = answering(400, refusal, 64 * KIB);
    expect(await settled()).toEqual({ kind: 'refused', reason: 'insufficient_funds' });
    answers = answering(400, refusal, 64 * KIB + 1);
    expect(await settled()).toEqual({ kind: 'unclear', reason: 'no_clear_reply' });
  });

  it('that refuses with a status of a failure, or says no more than that it succeeded, is unclear', async () => {
    answers = answering(500, { success: false, errorReason: 'insufficient_funds' });
    expect(await settled()).toMatchObject({ kind: 'unclear', reason: 'insufficient_funds' });
    answers = answering(500, { success: true, transaction: '', network: 'base-sepolia' });
    expect(await settled()).toMatchObject({ kind: 'unclear' });
    answers = answering(200, { success: true });
    expect(await settled()).toMatchObject({ kind: 'unclear' });
    answers = answering(400, { success: false, errorReason: { of: 'another form' } });
    expect(await settled()).toMatchObject({ kind: 'unclear' });
  });

  it.each([200, 500])('to a verification with the status %i that has no end is a failure', async (status) => {
    answers = endless(status);
    await expect(facilitator().verify(payment())).rejects.toMatchObject({ name: 'FacilitatorError', status });
  });

  it('that judges a payment invalid does so with 200 or 4xx', async () => {
    for (const status of [200, 400]) {
      answers = answering(status, { isValid: false, invalidReason: 'invalid_scheme' });
      expect(await facilitator().verify(payment())).toBe('invalid_scheme');
    }
    answers = answering(500, { isValid: false, invalidReason: 'invalid_scheme' });
    await expect(facilitator().verify(payment())).rejects.toMatchObject({ status: 500 });
    answers = answering(200, { isValid: true, invalidReason: null });
    expect(await facilitator().verify(payment())).toBeUndefined();
  });

  it('that names its networks may have 1 MiB', async () => {
    answers = answering(200, { kinds }, KIB * KIB);
    expect(await facilitator().feePayer(onSolana)).toBe('a payer of fees');
    answers = answering(200, { kinds }, KIB * KIB + 1);
    await expect(facilitator().feePayer(onSolana)).rejects.toThrow('too large');
  });

  it('that redirects sends the payment nowhere', async () => {
    answers = redirecting;
    expect(await settled()).toEqual({ kind: 'unclear', reason: 'no_clear_reply' });
    await expect(facilitator().verify(payment())).rejects.toMatchObject({ status: 307 });
    await expect(facilitator().feePayer(onSolana)).rejects.toMatchObject({ status: 307 });
    expect(elsewhere).toEqual([]);
  });
});
