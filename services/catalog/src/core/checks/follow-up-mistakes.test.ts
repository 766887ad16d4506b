import type { FollowUp } from '@orrery/contracts';
import { compileContract } from '@orrery/expressions';
import { expect, it } from 'vitest';
import { EMPTY_VERSION } from '../definitions/stored-version.js';
import { followUpMistakes, wrongFollowUps } from './follow-up-mistakes.js';

const versionWith = (...followUps: FollowUp[]) => ({ ...EMPTY_VERSION, followUps });

it.each<[FollowUp, string[]]>([
  [{ event: 'race' }, []],
  [{ event: 'race', after: 'PT90S', when: '{{ result.again }}', key: 'next-{{ input.id }}' }, []],
  [{ event: 'race', after: '{{ input.delay }}' }, []],
  [{ event: 'race', after: 'PT0S' }, []],
  [{ event: 'race', at: '2030-01-01T00:00:00Z' }, []],
  [{ cancel: 'next', when: '{{ result.over }}' }, []],
  [{}, ['/followUps/0']],
  [{ key: 'next' }, ['/followUps/0']],
  [{ cancel: 'next', event: 'race', key: 'x' }, ['/followUps/0/event', '/followUps/0/key']],
  [{ event: 'race', after: 'PT1S', at: '2030-01-01T00:00:00Z' }, ['/followUps/0/at']],
  [{ event: 'race', after: '90 seconds' }, ['/followUps/0/after']],
  [{ event: 'race', after: 'PT0.5S' }, ['/followUps/0/after']],
  [{ event: 'race', after: 'P1M' }, ['/followUps/0/after']],
  [{ event: 'race', at: 'tomorrow' }, ['/followUps/0/at']],
  [{ event: '{{ input.next }}' }, ['/followUps/0/event']],
  [{ event: 'race', when: 'always' }, ['/followUps/0/when']],
])('%j', (followUp, pointers) => {
  expect(wrongFollowUps(versionWith(followUp)).map(({ pointer }) => pointer)).toEqual(pointers);
});

it('points to what a template reads that is not there', () => {
  const version = {
    ...versionWith(
      { event: 'race', input: { id: '{{ entities.horse }}', by: '{{ input.who }}' } },
      { event: 'race', key: '{{ resutl.id }}' },
    ),
  };
  expect(followUpMistakes(version)).toMatchObject([{ pointer: '/followUps/1/key', code: 'unknown_name' }]);
  const compiled = compileContract({ id: 'string' });
  const [first] = version.followUps;
  if (!compiled.ok || first === undefined) throw new Error();
  expect(followUpMistakes(versionWith(first), compiled.contract)).toMatchObject([
    { pointer: '/followUps/0/input/id', code: 'entities_not_read' },
    { pointer: '/followUps/0/input/by', code: 'path_not_in_input' },
  ]);
});

it('knows the result', () => {
  expect(followUpMistakes(versionWith({ event: 'race', input: { won: '{{ result.winner }}' } }))).toEqual([]);
});

it('knows the history that the version remembers, whoever decides', () => {
  const version = versionWith({ event: 'race', key: '{{ history.size() }}' });
  expect(followUpMistakes(version)).toMatchObject([
    { pointer: '/followUps/0/key', code: 'history_not_read' },
  ]);
  for (const mode of ['ai', 'direct'] as const)
    expect(followUpMistakes({ ...version, readHistory: { last: 5 }, mutationSettings: { mode } })).toEqual(
      [],
    );
});
