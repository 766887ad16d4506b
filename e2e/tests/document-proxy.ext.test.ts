import type { Exchange } from '@orrery/testing/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routedOperations } from '../src/api/routed-operations.js';
import { operationOf } from '../src/document/first-of-its-kind.js';
import { type Recording, readDistinct } from '../src/document/read-distinct.js';
import { spoil } from '../src/document/spoil.js';
import { type Judge, startJudge } from '../src/document/start-judge.js';
import { runClients } from '../src/load/run-clients.js';

/** Where `npm test` has recorded the e2e suite. */
const folder = process.env['RECORDED_EXCHANGES'];
const isAsked = folder !== undefined || process.env['REQUIRE_BACKENDS'] === '1';
const why = isAsked ? '' : ' [SKIPPED, RECORDED_EXCHANGES is not set]';
const AT_ONCE = 4;

/** Who did not write the document finds no answer that breaks it. */
describe('a proxy that knows only openapi.json', () => {
  let judge: Judge;
  let read: Promise<Recording> | undefined;
  const recording = () => {
    if (folder === undefined) throw new Error('RECORDED_EXCHANGES is not set: CONTRIBUTING.md says how');
    read ??= readDistinct(folder);
    return read;
  };
  // Where Prism is not there yet it is installed: 90 MB.
  beforeAll(async () => {
    judge = await startJudge();
  }, 300_000);
  afterAll(() => judge?.[Symbol.asyncDispose]());

  it('passes an answer as it is documented and reports what is not', async () => {
    const found = async (status: number, body: object) =>
      (await judge.violations(deletion(status, body))).map(({ message }) => message).join();
    const deleted = { success: true, data: { deleted: true } };
    expect(await found(200, deleted)).toBe('');
    expect(await found(201, deleted)).toMatch(/status code/);
    expect(await found(200, { success: true })).toMatch(/data/);
    expect(await found(200, { ...deleted, took: 1 })).toMatch(/took/);
  });

  describe.runIf(isAsked)(`before the whole end-to-end suite${why}`, () => {
    it('finds no violation', async () => {
      const { distinct, figures } = await recording();
      const violations: string[] = [];
      await ofEach(distinct, async (one) => {
        for (const { location, message } of await judge.violations(one))
          violations.push(
            `${one.method} ${one.url} → ${one.answer.status}: ${location.join('.')}: ${message}`,
          );
      });
      process.stdout.write(`\nThe e2e suite through Prism: ${figures}, ${violations.length} violations\n`);
      expect(violations).toEqual([]);
    });

    it('sees every operation, and reports each of its answers once it is spoilt', async () => {
      const { distinct } = await recording();
      const nameOf = (one: Exchange) => operationOf(one)?.name;
      expect([...new Set(distinct.map(nameOf))].sort()).toEqual(
        routedOperations.map(({ name }) => name).sort(),
      );
      const answers = new Map(distinct.map((one) => [`${nameOf(one)} ${one.answer.status}`, one]));
      const missed: string[] = [];
      await ofEach([...answers], async ([name, one]) => {
        if ((await judge.violations(spoil(one))).length === 0) missed.push(name);
      });
      expect(missed).toEqual([]);
    });
  });
});

const ofEach = <T>(things: readonly T[], act: (thing: T) => Promise<void>) =>
  runClients(AT_ONCE, things.length, (number) => act(things[number] as T));

const deletion = (status: number, body: object): Exchange => ({
  method: 'DELETE',
  url: '/api/worlds/7',
  headers: { authorization: 'Bearer x' },
  body: '',
  answer: {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'r' },
    body: JSON.stringify(body),
  },
});
