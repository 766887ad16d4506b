import { EVALUATOR, hashOfDefinition } from '@orrery/deciding';
import { expect, it } from 'vitest';
import type { HistoryEntry } from '../journal/journal.js';
import type { Requests } from '../requests/requests.js';
import { beginDecisions } from './index.js';

const content = {
  ...{ event: 'judged', inputSchema: null, outputSchema: null, readEntities: [], stateChanges: null },
  ...{ behaviorPrompt: null, executionSettings: null, guards: null, versionHash: '', schemas: {} },
  mutationSettings: { mode: 'ai' },
};
const definition = { ...content, versionHash: hashOfDefinition(content as never) };

/** An execution that a model decided. */
const judged = (seq: number): HistoryEntry =>
  ({
    ...{ seq, id: String(seq), v: 2, evaluator: EVALUATOR, kind: 'execution', event: 'judged' },
    ...{ status: 'succeeded', input: {}, changes: [], result: null, error: null, llmHash: 'a'.repeat(64) },
    ...{ versionHash: definition.versionHash, executedAt: '2026-01-01T00:00:00.000Z' },
  }) as unknown as HistoryEntry;

/** How often entries are read one by one where each shows this of its model. */
async function readsOf(llm: object | null) {
  let reads = 0;
  const answer = async (_method: string, path: string) => {
    if (path.includes('/definitions/')) return { body: { data: definition } };
    reads += 1;
    return { body: { data: { llm } } };
  };
  const requests = { answer } as unknown as Requests;
  const path = { worldAddress: '0x1', address: '0x2' };
  const decisions = beginDecisions(requests, path, undefined, new Map(), undefined);
  const found = [];
  for (const seq of [1, 2, 3]) found.push(await decisions.check(judged(seq)));
  return { reads, found, notRerun: decisions.counts.notRerun };
}

it('counts what it may not read, whatever copy of the SDK its error is of', async () => {
  const refused = Object.assign(new Error('Not shown.'), { name: 'OrreryError', status: 403 });
  const requests = { answer: () => Promise.reject(refused) } as unknown as Requests;
  const path = { worldAddress: '0x1', address: '0x2' };
  const { check, counts } = beginDecisions(requests, path, undefined, new Map(), undefined);
  expect(await check(judged(1))).toBe(undefined);
  expect(counts.notRerun).toEqual({ no_definition: 1 });
});

it('asks for texts of models until it is shown that it may not read them', async () => {
  expect(await readsOf({ model: 'm', usage: {} })).toEqual({
    reads: 1,
    found: [undefined, undefined, undefined],
    notRerun: { model: 3 },
  });
  const { reads, found } = await readsOf({ model: 'm', request: {}, response: '{}' });
  expect([reads, found.map((one) => one?.what)]).toEqual([3, Array(3).fill('exchange_differs')]);
});
