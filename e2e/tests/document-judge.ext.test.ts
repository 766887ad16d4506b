import type { Exchange } from '@orrery/testing/system';
import { describe, expect, it } from 'vitest';
import { routedOperations } from '../src/api/routed-operations.js';
import { createJudge } from '../src/document/create-judge.js';
import { operationOf, readRecording, whyLeftOut } from '../src/document/read-recording.js';

/** Where `npm test` has recorded the e2e suite. */
const folder = process.env['RECORDED_EXCHANGES'];
const isAsked = folder !== undefined || process.env['REQUIRE_BACKENDS'] === '1';
const why = isAsked ? '' : ' [SKIPPED, RECORDED_EXCHANGES is not set]';

/** Who did not write the document finds no answer that breaks it. */
describe('a judge that knows only openapi.json', () => {
  const judge = createJudge();

  it('passes an answer as it is documented and reports what is not', () => {
    const found = (status: number, body: object) => judge(deletion(status, body)).join();
    const deleted = { success: true, data: { deleted: true } };
    expect(found(200, deleted)).toBe('');
    expect(found(201, deleted)).toMatch(/status code/);
    expect(found(200, { success: true })).toMatch(/data/);
    expect(found(200, { ...deleted, took: 1 })).toMatch(/additional properties/);
  });

  it('reports a request that was taken and is not documented', () => {
    const creation = (body: object) =>
      judge({ ...deletion(201, {}), method: 'POST', url: '/api/worlds', body: JSON.stringify(body) }).join();
    expect(creation({ name: 'Derby' })).not.toMatch(/request/);
    expect(creation({})).toMatch(/request: .*name/);
    expect(creation({ name: 'Derby', took: 1 })).toMatch(/request: .*additional properties/);
  });

  it.runIf(isAsked)(
    `finds no violation in the whole end-to-end suite, and sees every operation${why}`,
    async () => {
      if (folder === undefined) throw new Error('RECORDED_EXCHANGES is not set: CONTRIBUTING.md says how');
      const violations: string[] = [];
      const leftOut = new Map<string, number>();
      const answers = new Map<string, Exchange>();
      let seen = 0;
      for await (const one of readRecording(folder)) {
        seen += 1;
        const reason = whyLeftOut(one);
        if (reason !== undefined) leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
        else
          violations.push(
            ...judge(one).map((what) => `${one.method} ${one.url} → ${one.answer.status}: ${what}`),
          );
        if (reason === undefined) answers.set(`${operationOf(one)?.name} ${one.answer.status}`, one);
      }
      const without = [...leftOut].map(([reason, count]) => `${count} left out (${reason})`);
      const figures = [`${seen} exchanges`, ...without, `${violations.length} violations`];
      process.stdout.write(`\nThe e2e suite by openapi.json: ${figures.join(', ')}\n`);
      expect(violations).toEqual([]);
      const names = new Set([...answers.keys()].map((name) => name.split(' ', 1)[0]));
      expect([...names].sort()).toEqual(routedOperations.map(({ name }) => name).sort());
      // A 304 has no body to spoil.
      const missed = [...answers].filter(
        ([, one]) => one.answer.body !== '' && judge(spoilt(one)).length === 0,
      );
      expect(missed.map(([name]) => name)).toEqual([]);
    },
  );
});

const deletion = (status: number, body: object): Exchange => ({
  method: 'DELETE',
  url: '/api/worlds/7',
  headers: { authorization: 'Bearer x', 'content-type': 'application/json' },
  body: '',
  answer: {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'r' },
    body: JSON.stringify(body),
  },
});

/** An exchange whose answer breaks the document: a success with a property more, a problem with another code. */
function spoilt(exchange: Exchange): Exchange {
  const { answer } = exchange;
  const wrong = answer.status < 400 ? { undocumented: true } : { code: 'undocumented' };
  const body = JSON.stringify({ ...JSON.parse(answer.body), ...wrong });
  return { ...exchange, answer: { ...answer, body } };
}
