import { expect, it } from 'vitest';
import { beginOf, callerOf, effectOf, type JournalEntry, titleOf, toneOf } from './entry-words.js';

const entry = (parts: Partial<JournalEntry>): JournalEntry =>
  ({
    kind: 'execution',
    event: 'race',
    eventVersion: 2,
    status: 'succeeded',
    error: null,
    changes: [],
    ...parts,
  }) as JournalEntry;
const change = (op: 'create' | 'update' | 'delete', instanceId: string) => ({
  entitySchema: 'horse',
  instanceId,
  op,
  set: {},
  unset: [],
  revision: 1,
});

it('names executions by event and version, others by what they did', () => {
  expect(titleOf(entry({}))).toBe('race v2');
  expect(titleOf(entry({ kind: 'bindings_added', event: null }))).toBe('Events bound');
});

it('failed entries and lost ones stand out', () => {
  expect(toneOf(entry({}))).toBe('ok');
  expect(toneOf(entry({ status: 'failed' }))).toBe('failed');
  expect(toneOf(entry({ kind: 'tail_lost', status: null }))).toBe('failed');
  expect(toneOf(entry({ kind: 'paused', status: null }))).toBe('plain');
});

it('says why it failed, or what it changed', () => {
  const error = { code: 'template_failed', detail: 'No such key.' };
  expect(effectOf(entry({ error }))).toBe('template_failed: No such key.');
  const problems = [{ pointer: '/horse:A/wins', code: 'too_large', message: 'Too much.' }];
  const broken = { code: 'invalid_state', detail: '/horse:A/wins: Too much.', facts: { problems } };
  expect(effectOf(entry({ error: broken }))).toBe('invalid_state: wins of horse:A: Too much.');
  expect(effectOf(entry({}))).toBe('no changes');
  const updated = { ...change('update', 'A'), set: { wins: 3, name: 'Bolt' }, unset: ['rider'] };
  expect(effectOf(entry({ changes: [updated] }))).toBe('horse:A · wins 3 · name Bolt · without rider');
  expect(effectOf(entry({ changes: [change('create', 'A'), change('delete', 'B')] }))).toBe(
    'create horse:A and 1 more',
  );
});

it('says of a fork with what it begins', () => {
  const made = (input: unknown) => entry({ kind: 'deployment_created', input } as Partial<JournalEntry>);
  expect(beginOf(made({ name: 'A', source: { seq: 7, address: '0x1' } }))).toBe(7);
  expect(effectOf(made({ source: { seq: 7 } }))).toBe('instances of another, after its entry 7');
  expect(effectOf(made({ name: 'A' }))).toBe('');
  expect(beginOf(entry({ input: { source: { seq: 7 } } }))).toBeUndefined();
});

it('names the events that were bound and the settings that were changed, and says nothing of pauses', () => {
  const of = (kind: JournalEntry['kind'], input: unknown) =>
    effectOf(entry({ kind, input, status: null } as Partial<JournalEntry>));
  const bindings = [
    { event: 'race', eventVersion: 2 },
    { event: 'rest', eventVersion: 1 },
  ];
  expect(of('bindings_added', { bindings })).toBe('race v2, rest v1');
  expect(of('bindings_updated', { bindings: bindings.slice(0, 1) })).toBe('race v2');
  expect(of('deployment_created', { name: 'A', bindings, source: null })).toBe('race v2, rest v1');
  expect(of('binding_removed', { events: ['race'] })).toBe('race');
  expect(of('paused', {})).toBe('');
  expect(of('settings_updated', { name: 'B', aiModelId: null })).toBe('name, aiModelId');
});

it('shortens the names of callers', () => {
  expect(callerOf(entry({ caller: 'account:7' }))).toBe('account 7');
  expect(callerOf(entry({ caller: 'schedule:night:race' }))).toBe('schedule night:race');
  expect(callerOf(entry({ caller: 'wallet:7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV' }))).toBe(
    'wallet 7EcDhS…FLtV',
  );
});
