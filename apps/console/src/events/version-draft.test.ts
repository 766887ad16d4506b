import { describe, expect, it } from 'vitest';
import type { EventVersion } from '../api/records.js';
import { Unreadable } from '../ui/messages.js';
import { NEW_VERSION, versionBodyOf, versionDraftOf } from './version-draft.js';

const definition = {
  inputSchema: { winner: 'string' },
  outputSchema: { headline: 'string' },
  readEntities: [{ schema: 'horse', filter: ['winner', 'second.id'] }, { schema: 'track' }],
  stateChanges: { horse: 'partial', log: 'append' },
  mutationSettings: {
    mode: 'direct',
    template: { 'horse:{{input.winner}}': { wins: 1 } },
    behaviorPrompt: null,
  },
  executionSettings: {
    visibility: 'cron',
    priceUsd: null,
    cron: { schedule: '0 9 * * *', timezone: 'Europe/Vienna', input: { winner: 'A' } },
  },
  guards: { maxInstances: 3, maxDelta: { wins: 1 }, deny: ['name'], create: false, delete: true },
};
const stored = (changes: object = {}) => ({ ...definition, ...changes }) as unknown as EventVersion;

describe('a version that is typed', () => {
  it('is sent as it was read', () => {
    expect(versionBodyOf(versionDraftOf(stored()))).toEqual({
      ...definition,
      readHistory: null,
      followUps: null,
    });
  });

  it('keeps what searches, and what a payment alone may execute', () => {
    const searching = {
      readEntities: [
        { schema: 'horse', where: 'instance.wins > input.least', orderBy: 'wins desc', limit: 3 },
      ],
      executionSettings: {
        ...{ visibility: 'public', priceUsd: 0.05, cron: null, payerMayCall: true },
        randomness: 'drand' as const,
      },
    };
    expect(versionBodyOf(versionDraftOf(stored(searching)))).toEqual({
      ...definition,
      readHistory: null,
      followUps: null,
      ...searching,
    });
    const remembering = {
      readHistory: { last: 20, instances: 'read' as const },
      followUps: [{ event: 'match', after: 'PT90S' }],
    };
    expect(versionBodyOf(versionDraftOf(stored(remembering)))).toEqual({ ...definition, ...remembering });
  });

  it('removes what is empty, and gives no settings to a version that has none', () => {
    const empty = {
      inputSchema: null,
      outputSchema: null,
      readEntities: [],
      stateChanges: null,
      mutationSettings: null,
      behaviorPrompt: 'Let one win.',
      executionSettings: null,
      guards: null,
    };
    expect(versionBodyOf(versionDraftOf(stored(empty)))).toEqual({
      inputSchema: null,
      outputSchema: null,
      readEntities: null,
      readHistory: null,
      stateChanges: null,
      mutationSettings: null,
      behaviorPrompt: 'Let one win.',
      executionSettings: null,
      guards: null,
      followUps: null,
    });
    const typed = { ...versionDraftOf(stored(empty)), visibility: 'public', decides: 'direct' } as const;
    expect(versionBodyOf({ ...typed, template: '{}' })).toMatchObject({
      mutationSettings: { mode: 'direct', template: {}, behaviorPrompt: 'Let one win.' },
      executionSettings: { visibility: 'public', priceUsd: null, cron: null },
    });
  });

  it('is not sent while a part of it is no JSON or no number', () => {
    const draft = {
      ...NEW_VERSION,
      inputSchema: '{ "a": ',
      template: '[1]',
      maxDelta: '{}',
      maxInstances: '1e',
      priceUsd: '1,5',
    };
    const error = catchError(() => versionBodyOf(draft));
    expect(error).toBeInstanceOf(Unreadable);
    expect((error as Unreadable).pointers.map(({ pointer }) => pointer)).toEqual([
      '/inputSchema',
      '/mutationSettings/template',
      '/executionSettings/priceUsd',
      '/guards/maxInstances',
    ]);
  });
});

function catchError(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}
