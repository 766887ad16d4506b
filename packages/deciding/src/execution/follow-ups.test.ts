import { type FollowUp, type JsonValue, ServiceError } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { compileFollowUps, planFollowUps, recordTimers, timerIdOf } from './follow-ups.js';

const NOW = Date.UTC(2030, 0, 1);
const scope = {
  input: { id: 'H1', wait: 'PT90S', n: 7, none: null, at: '2030-01-02T00:00:00+01:00' },
  result: { over: true },
};

const plan = (followUp: FollowUp) => planFollowUps(compileFollowUps([followUp]), scope, NOW, 1000);

it.each<[FollowUp, object[]]>([
  [{ event: 'race' }, [{ event: 'race', input: {}, dueAt: NOW, isNext: true, key: null }]],
  [{ event: 'race', after: 'PT0S' }, [{ dueAt: NOW, isNext: true }]],
  [{ event: 'race', after: '{{ input.wait }}' }, [{ dueAt: NOW + 90_000, isNext: false }]],
  [{ event: 'race', after: 'PT{{ input.n }}H' }, [{ dueAt: NOW + 7 * 3_600_000 }]],
  [{ event: 'race', after: '{{ "PT0.2S" }}' }, [{ dueAt: NOW + 1000, isNext: false }]],
  [{ event: 'race', at: '{{ input.at }}' }, [{ dueAt: NOW + 23 * 3_600_000, isNext: false }]],
  [{ event: 'race', at: '2029-12-31T23:59:59Z' }, [{ dueAt: NOW + 1000, isNext: false }]],
  [
    { event: 'race', input: { horse: '{{ input.id }}' }, key: 'k-{{ input.id }}' },
    [{ input: { horse: 'H1' }, key: 'k-H1' }],
  ],
  [{ event: 'race', key: '{{ input.n }}' }, [{ key: '7' }]],
  [{ event: 'race', key: '{{ input.none }}' }, [{ key: null }]],
  [{ event: 'race', when: '{{ result.over }}' }, [{ event: 'race' }]],
  [{ event: 'race', when: '{{ !result.over }}', input: { x: '{{ input.missing }}' } }, []],
  [{ event: 'race', when: '{{ input.none }}' }, []],
  [{ cancel: 'k-{{ input.id }}' }, [{ cancel: 'k-H1' }]],
  [{ cancel: '{{ input.none }}' }, []],
])('%j', (followUp, expected) => {
  expect(plan(followUp)).toMatchObject(expected);
});

const refusalOf = (followUp: FollowUp): ServiceError => {
  try {
    plan(followUp);
  } catch (error) {
    if (error instanceof ServiceError) return error;
  }
  throw new Error('it was not refused');
};

it.each<[FollowUp, string, string]>([
  [{ event: 'race', after: '{{ input.n }}' }, 'invalid_follow_up', '/followUps/0/after'],
  [{ event: 'race', after: '{{ "soon" }}' }, 'invalid_follow_up', '/followUps/0/after'],
  [{ event: 'race', after: '{{ "P4000D" }}' }, 'invalid_follow_up', '/followUps/0/after'],
  [{ event: 'race', at: '{{ input.id }}' }, 'invalid_follow_up', '/followUps/0/at'],
  [{ event: 'race', at: '9999-01-01T00:00:00Z' }, 'invalid_follow_up', '/followUps/0/at'],
  [{ event: 'race', when: '{{ input.id }}' }, 'invalid_follow_up', '/followUps/0/when'],
  [{ event: 'race', key: '{{ input }}' }, 'invalid_follow_up', '/followUps/0/key'],
  [{ event: 'race', key: '{{ "" }}' }, 'invalid_follow_up', '/followUps/0/key'],
  [{ event: 'race', input: { x: 'y'.repeat(1000) } }, 'invalid_follow_up', '/followUps/0/input'],
  [{ event: 'race', input: '{{ input.id }}' as never }, 'invalid_follow_up', '/followUps/0/input'],
])('%j is refused', (followUp, code, pointer) => {
  expect(refusalOf(followUp)).toMatchObject({ code, facts: { pointer } });
});

it('an input that is no object is not called too large', () => {
  const { message } = refusalOf({ event: 'race', input: '{{ input.id }}' as never });
  expect(message).toBe('/followUps/0/input: The input must be an object, not the text "H1".');
  expect(refusalOf({ event: 'race', input: { x: 'y'.repeat(1000) } }).message).toBe(
    '/followUps/0/input: The input may have at most 1000 bytes as JSON.',
  );
});

it('the id of a timer is that of its entry and position, and a UUID', () => {
  const entry = '0192f0c1-2b3c-7d4e-8f50-61728394a5b6';
  const ids = [timerIdOf(entry, 0), timerIdOf(entry, 1)];
  expect(new Set([...ids, timerIdOf(entry, 0)]).size).toBe(2);
  for (const id of ids) expect(id).toMatch(/^0192f0c1-2b3c-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
});

it('an entry says what it sets by the hash of its input, and what it cancels by its key', () => {
  const planned = planFollowUps(
    compileFollowUps([{ cancel: 'k' }, { event: 'race', input: {} }]),
    scope,
    NOW,
    9,
  );
  const none: JsonValue = null;
  expect(recordTimers('0192f0c1-2b3c-7d4e-8f50-61728394a5b6', planned)).toEqual([
    { id: none, event: none, dueAt: none, key: 'k', inputHash: none },
    {
      id: timerIdOf('0192f0c1-2b3c-7d4e-8f50-61728394a5b6', 1),
      event: 'race',
      dueAt: '2030-01-01T00:00:00.000Z',
      key: null,
      // sha256 of {}
      inputHash: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    },
  ]);
});

it('follow-ups that do not compile are refused', () => {
  expect(() => compileFollowUps([{ event: 'race', key: '{{ nope }}' }])).toThrow('nope');
});
