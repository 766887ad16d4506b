import { describe, expect, it } from 'vitest';
import { type PushRow, toPushRecord } from './push-record.js';

const row: PushRow = {
  chain: 'local',
  number: 3,
  history_id: 'h',
  seq: 7,
  digest: 'd',
  truncated: false,
  head: null,
  status: 'submitted',
  error: null,
  transaction: '0xab',
  block: null,
  stop: null,
  waits_for: null,
  earlier: null,
};

describe('how a push is shown', () => {
  it('has a head only where it is of one', () => {
    expect(toPushRecord(row, undefined)).not.toHaveProperty('head');
    const head = { before: '2026-11-21T10:00:00.000Z', generation: 1, size: 7, rootHash: 'a'.repeat(64) };
    expect(toPushRecord({ ...row, head }, undefined).head).toEqual(head);
  });

  it.each([
    [undefined, null],
    ['https://explorer/', 'https://explorer/tx/0xab'],
    ['https://explorer/{transaction}/x', 'https://explorer/0xab/x'],
  ])('with the explorer %s its address is %s', (explorerUrl, expected) => {
    expect(toPushRecord(row, explorerUrl).explorerUrl).toBe(expected);
    expect(toPushRecord({ ...row, transaction: null }, explorerUrl).explorerUrl).toBeNull();
  });

  it.each<[string, Partial<PushRow>, string | undefined, string | undefined]>([
    ['nothing, where it is its turn alone', {}, undefined, undefined],
    ['the chain, while that cannot be used', {}, 'chain_unavailable', 'chain_unavailable'],
    ['its lane before the chain', { waits_for: 'quota_exceeded' }, 'chain_unavailable', 'quota_exceeded'],
    ['a stopped lane before all', { stop: 'failed', waits_for: 'quota_exceeded' }, undefined, 'failed'],
  ])('a queued one waits for %s', (_what, more, obstacle, code) => {
    const { error } = toPushRecord({ ...row, status: 'queued', ...more }, undefined, obstacle);
    expect(error?.code).toBe(code);
    expect(toPushRecord({ ...row, ...more }, undefined, obstacle).error).toBeNull();
  });

  it('a submitted one waits for earlier transactions, unless it has an error of its own', () => {
    expect(toPushRecord({ ...row, earlier: 2 }, undefined).error?.code).toBe('earlier_transactions');
    expect(toPushRecord({ ...row, earlier: 0 }, undefined).error).toBeNull();
    const error = { code: 'push_unclear', detail: 'no' };
    expect(toPushRecord({ ...row, earlier: 2, error }, undefined).error).toEqual(error);
  });
});
