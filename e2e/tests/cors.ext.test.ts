import { type System, startAllInOne } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { browse } from '../src/external/browse.js';
import { describeWithProgram } from '../src/external/describe-with-program.js';

/** A browser that starts on a busy machine included. */
const PATIENCE_MS = 300_000;

/** What a browser lets a page of another origin do is known to a browser alone. */
describeWithProgram('chromium', 'a page of another origin', () => {
  let system: System;
  beforeAll(async () => {
    system = await startAllInOne();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  const ask = (path: string, options: object) => `
    const answer = await fetch(${JSON.stringify(`${system.url}${path}`)}, ${JSON.stringify(options)});
    const headers = Object.fromEntries(answer.headers);
    return { status: answer.status, headers, body: await answer.json() };`;
  const json = { 'content-type': 'application/json' };

  it('creates with a bearer token and an idempotency key, and reads the exposed headers', async () => {
    const headers = { ...json, authorization: `Bearer ${system.key}`, 'idempotency-key': 'page-1' };
    const options = { method: 'POST', headers, body: JSON.stringify({ name: 'From a page' }) };
    const told = await browse(ask('/api/worlds', options), PATIENCE_MS);
    expect(told).toMatchObject({
      status: 201,
      body: { success: true, data: { name: 'From a page' } },
      headers: {
        location: expect.stringMatching(/^\/api\/worlds\/0x/),
        'x-request-id': expect.stringMatching(/./),
      },
    });
  });

  it('may send PUT and DELETE, and reads why it was refused', async () => {
    for (const method of ['PUT', 'DELETE']) {
      const options = { method, headers: { ...json, authorization: 'Bearer none' } };
      expect(await browse(ask('/api/worlds/1', options), PATIENCE_MS)).toMatchObject({
        status: 401,
        body: { code: 'unauthorized' },
      });
    }
  });

  it('may send the headers of a payment', async () => {
    const headers = { ...json, 'x-payment': 'e30=', 'payment-signature': 'e30=' };
    const told = await browse(ask('/api/worlds', { method: 'POST', headers, body: '{}' }), PATIENCE_MS);
    expect(told).toMatchObject({ status: 401, body: { success: false } });
  });

  it('cannot send cookies along', async () => {
    const options = { credentials: 'include', headers: { authorization: `Bearer ${system.key}` } };
    expect(await browse(ask('/api/me', options), PATIENCE_MS)).toEqual({
      failed: expect.stringContaining('Failed to fetch'),
    });
  });
});
