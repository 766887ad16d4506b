import { type Orrery, OrreryError } from '@orrery/sdk';
import { describe, expect, it } from 'vitest';
import { newKey } from '../api/change.js';
import { executeEvent, failedEntryOf, llmOfError, tryEvent } from './execute.js';

const refusal = (code: string, status: number, facts: Record<string, unknown> = {}) =>
  new OrreryError({ code, status, detail: 'Refused.', facts });

it('finds the entry and the exchange with the model that a failure tells of', () => {
  const failed = refusal('ai_output_invalid', 502, { seq: 7, llm: { model: 'm' } });
  expect(failedEntryOf(failed)).toBe(7);
  expect(llmOfError(failed)).toEqual({ model: 'm' });
  expect(failedEntryOf(refusal('event_not_bound', 404))).toBeUndefined();
  expect(llmOfError(new Error('other'))).toBeNull();
});

const ref = { world: '0xw', deployment: '0xd' };
const request = { event: 'race', input: {} };
type Asked = { path: { instanceId?: string; historyId?: string }; query?: Record<string, unknown> };

/**
 * A deployment whose instance `horse:A` has won as often as the entry has seqs behind it; `horse:B` was created by the
 * entry that an execution makes, with seq 5. The API lists so many instances, on pages as long as they are asked for.
 */
function client({
  horses = 2,
  fails = () => false,
}: {
  horses?: number;
  fails?: (path: string) => boolean;
} = {}) {
  const stateChanges = { 'horse:A': { wins: 5 }, 'horse:B': { wins: 1 } };
  const answer = { historyId: 'h', seq: 5, stateChanges, result: null, pushes: [], llm: null };
  const asked: Asked[] = [];
  const get = async (path: string, request: Asked) => {
    if (fails(path)) throw refusal('rate_limited', 429);
    asked.push(request);
    if (path.endsWith('/{historyId}'))
      return { changes: [{ op: 'create', entitySchema: 'horse', instanceId: 'B' }], llm: null };
    if (request.path.instanceId !== 'A') throw refusal('entity_instance_not_found', 404);
    return { state: { wins: request.query?.['atSeq'] ?? 'now' } };
  };
  const list = (path: string, { query: { limit } }: { query: { limit: number } }) => {
    if (fails(path)) throw refusal('rate_limited', 429);
    const first = { entitySchema: 'horse', instanceId: 'A', state: { wins: 'listed' } };
    return {
      data: horses === 0 ? [] : [first],
      pagination: { page: 1, totalPages: Math.ceil(horses / limit) },
    };
  };
  const orrery = {
    get,
    answer: async (_method: 'get', path: string, asking: never) => list(path, asking),
    deployment: () => ({ execute: async () => answer, dryRun: async () => answer }),
  };
  return { orrery: orrery as unknown as Orrery, asked };
}

describe('what was before', () => {
  const options = { isSlow: false, idempotencyKey: 'k', signal: new AbortController().signal };

  it('an execution is the state after the entry before it; what it created was not there', async () => {
    const { orrery, asked } = client();
    const outcome = await executeEvent(orrery, ref, request, options);
    expect([...outcome.before]).toEqual([
      ['horse:B', null],
      ['horse:A', { wins: 4 }],
    ]);
    // A request for what was not there yet would be an error in the browser's log.
    expect(asked.map(({ path }) => path.instanceId)).toEqual([undefined, 'A']);
    expect(outcome.unread).toBeNull();
  });

  it('a try is listed where the list has all instances of the schema', async () => {
    const { orrery, asked } = client({ horses: 2 });
    const { before } = await tryEvent(orrery, ref, request);
    expect(Object.fromEntries(before)).toEqual({ 'horse:A': { wins: 'listed' }, 'horse:B': null });
    expect(asked).toEqual([]);
  });

  it('a try is asked for, each, where the list is only its first page', async () => {
    const { orrery } = client({ horses: 51 });
    const { before } = await tryEvent(orrery, ref, request);
    expect(Object.fromEntries(before)).toEqual({ 'horse:A': { wins: 'now' }, 'horse:B': null });
  });

  it('may not be readable: what was executed was executed', async () => {
    const { orrery } = client({ fails: () => true });
    const outcome = await executeEvent(orrery, ref, request, options);
    expect(outcome).toMatchObject({ kind: 'execution', answer: { seq: 5 }, entry: null });
    expect(outcome.before.size).toBe(0);
    expect(outcome.unread).toMatchObject({ code: 'rate_limited' });
    expect(await tryEvent(orrery, ref, request)).toMatchObject({ kind: 'dry run', answer: { seq: 5 } });
  });
});

it('names each execution anew', () => {
  expect(newKey()).toMatch(/^[0-9a-f]{32}$/);
  expect(newKey()).not.toBe(newKey());
});
