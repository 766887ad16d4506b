import { type Caller, callerName, type JournalKind, journalKind } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { callerNamed, patched, recordedFacts, replayableOf, replayFacts, seenOf } from './replayed-entry.js';

describe('the facts of an entry', () => {
  it.each<Caller>([
    { kind: 'account', accountId: 7, scopes: [] },
    { kind: 'wallet', wallet: 'eip155:8453:0xAb' },
    { kind: 'schedule', event: 'a:b' },
    { kind: 'service', service: 'runtime' },
    { kind: 'anonymous' },
  ])('name who called: %o', (caller) => {
    expect(callerNamed(callerName(caller))).toEqual(caller);
  });

  it('say what templates saw as the wallet', () => {
    expect(recordedFacts({ trigger: 'public', caller: 'wallet:W' }).walletAddress).toBe('W');
    expect(recordedFacts({ trigger: 'admin', caller: 'account:1' }).walletAddress).toBeNull();
    expect(recordedFacts({ trigger: 'cron', caller: 'schedule:tick' }).walletAddress).toBeNull();
    expect(() => recordedFacts({ trigger: null, caller: 'account:1' })).toThrow();
  });

  it('say what templates saw as now', () => {
    const replay = {
      eventVersion: 1,
      deployment: '0xab',
      timestamp: '2026-01-02T03:04:05.678Z',
      aiModelId: null,
    };
    expect(seenOf(replay)).toEqual({
      now: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
      timestamp: '2026-01-02T03:04:05.678Z',
      address: '0xab',
    });
  });

  it('say what it repeats, and before which entry it remembers', () => {
    const entry = { deploymentId: 7, seq: 120, executedAt: '2026-01-02T03:04:06.000Z' };
    const timestamp = '2026-01-02T03:04:05.678Z';
    expect(seenOf({ timestamp, deployment: '0xab', entry }).replays).toEqual({ deploymentId: 7, seq: 120 });
    expect(replayFacts(entry)).toEqual({ replayOf: { seq: 120, executedAt: entry.executedAt } });
  });
});

const change = {
  entitySchema: 'horse',
  instanceId: 'H',
  op: 'update',
  set: { wins: 2 },
  unset: ['lame'],
  revision: 9,
} as const;

describe('what is replayed', () => {
  const entry = { event: 'race', eventVersion: 2, changes: [{ ...change, unset: [] }], error: null };
  it('are executions and writes, and no other kind', () => {
    const replayed = journalKind.options.filter(
      (kind) => replayableOf({ ...entry, kind }).kind !== 'nothing',
    );
    const kinds: JournalKind[] = ['execution', 'instance_created', 'instance_updated', 'instance_deleted'];
    expect(replayed).toEqual(kinds);
  });

  it('is no execution that failed for something outside of the deployment', () => {
    const failed = (code: string) =>
      replayableOf({ ...entry, kind: 'execution', changes: [], error: { code, detail: '' } }).kind;
    expect(['template_failed', 'invalid_state', 'ai_output_invalid'].map(failed)).toEqual(
      Array(3).fill('execution'),
    );
    const outside = [
      ...['payment_refused', 'deadline_exceeded', 'write_conflict', 'budget_exhausted'],
      ...['ai_model_unpriced', 'ai_model_unavailable', 'unavailable'],
      ...['randomness_unavailable', 'too_many_waiting'],
    ];
    expect(outside.map(failed)).toEqual(outside.map(() => 'nothing'));
  });
});

it('a write sets and removes what it did, and leaves what differs', () => {
  const { unset, ...rest } = change;
  expect(patched({ wins: 5, lame: true, speed: 3 }, { ...rest, unset: [...unset] })).toEqual({
    wins: 2,
    speed: 3,
  });
});
