import { describe, expect, it } from 'vitest';
import { EMPTY_VERSION, type StoredVersion } from '../definitions/stored-version.js';
import { eventsNamed, priceOf, priceWarnings, versionWarnings } from './version-warnings.js';

const horse = { name: 'horse', definition: [] };
const ai: StoredVersion = {
  ...EMPTY_VERSION,
  readEntities: [{ schema: 'horse' }],
  behaviorPrompt: 'Think.',
  mutationSettings: { mode: 'ai' },
};
const priced = (visibility: 'public' | 'admin', priceUsd?: number): StoredVersion => ({
  ...ai,
  executionSettings: { visibility, ...(priceUsd !== undefined && { priceUsd }) },
});

const FOLLOWING = [{ event: 'race' }, { cancel: 'next' }, { event: 'rcae', after: 'PT5M' }];
const drand = { visibility: 'admin', randomness: 'drand' } as const;

describe('versionWarnings', () => {
  it.each<[string, StoredVersion]>([
    ['nothing_to_run /mutationSettings', EMPTY_VERSION],
    ['no_attributes /stateChanges/horse', { ...ai, stateChanges: { horse: 'full' } }],
    ['reads_nothing /readEntities', { ...ai, readEntities: [] }],
    ['literal_reference /behaviorPrompt', { ...ai, behaviorPrompt: 'Take {{ input.x }}.' }],
    ['without_effect /executionSettings/priceUsd', priced('admin', 1)],
    ['unknown_event /readHistory/events/1', { ...ai, readHistory: { last: 3, events: ['race', 'rcae'] } }],
    ['unknown_event /followUps/2/event', { ...ai, followUps: FOLLOWING }],
    ['without_effect /executionSettings/randomness', { ...ai, executionSettings: drand }],
    ['without_effect /mutationSettings/template', { ...ai, mutationSettings: { mode: 'ai', template: {} } }],
  ])('warns of %s', (warning, version) => {
    const told = versionWarnings(version, [horse], ['race']).map(({ code, pointer }) => `${code} ${pointer}`);
    expect(told).toEqual([warning]);
  });

  it('says what to do where a model is shown no instances', () => {
    const [warning] = versionWarnings(
      { ...ai, readEntities: [], stateChanges: { cart: 'full' } },
      [horse],
      [],
    ).filter(({ code }) => code === 'reads_nothing');
    expect(warning?.message).toContain('set readEntities to [{"schema":"cart"}]');
    expect(warning?.message).toContain('set stateChanges to {}');
    const done = { ...ai, readEntities: [], stateChanges: {} };
    expect(versionWarnings(done, [horse], [])).toEqual([]);
  });

  it('says which event of the world may be meant', () => {
    const [warning] = versionWarnings(
      { ...ai, readHistory: { last: 3, events: ['rcae'] } },
      [horse],
      ['race'],
    );
    expect(warning).toMatchObject({
      message: 'The world has no event "rcae". Did you mean "race"? Nothing of it is remembered.',
      suggestion: 'Write "race".',
    });
  });

  it('knows where a version names other events', () => {
    expect(eventsNamed(ai)).toEqual([]);
    const named = eventsNamed({ ...ai, readHistory: { last: 3, events: ['race'] }, followUps: FOLLOWING });
    expect(named.map(({ name, pointer }) => `${name} ${pointer}`)).toEqual([
      'race /readHistory/events/0',
      'race /followUps/0/event',
      'rcae /followUps/2/event',
    ]);
  });

  it('says what becomes of executions that are to follow', () => {
    const [warning] = versionWarnings({ ...ai, followUps: FOLLOWING }, [horse], ['race']);
    expect(warning).toMatchObject({
      message:
        'The world has no event "rcae". Did you mean "race"? Executions that follow fail unless it is bound.',
      suggestion: 'Write "race".',
    });
  });

  it('has nothing to say of a version that asks a model', () => {
    expect(versionWarnings(ai, [horse], ['race'])).toEqual([]);
    const followUps = [{ event: 'race', after: 'PT{{ random.int(1, 6) }}H' }];
    expect(versionWarnings({ ...ai, executionSettings: drand, followUps }, [horse], ['race'])).toEqual([]);
  });
});

describe('the price of a version', () => {
  it('is what a public execution costs', () => {
    expect([priced('public', 2), priced('public'), priced('admin', 2)].map(priceOf)).toEqual([2, 0, 0]);
  });

  it('is told where the version is bound already', () => {
    expect(priceWarnings(priced('public', 2), [])).toEqual([]);
    const [warning] = priceWarnings(priced('public', 2), ['0xabc']);
    expect(warning?.message).toContain('0xabc. An execution costs a wallet 2 USD');
  });
});
