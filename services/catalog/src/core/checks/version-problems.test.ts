import { describe, expect, it } from 'vitest';
import { EMPTY_VERSION, type StoredVersion } from '../definitions/stored-version.js';
import { versionProblems } from './version-problems.js';

const NOW = Date.UTC(2026, 0, 1);
const found = (version: Partial<StoredVersion>) =>
  versionProblems({ ...EMPTY_VERSION, ...version }, NOW).flatMap(({ code, problems }) =>
    problems.map(({ pointer }) => `${code} ${pointer}`),
  );

describe('versionProblems', () => {
  it.each<[string, Partial<StoredVersion>]>([
    ['template_required /mutationSettings/template', { mutationSettings: { mode: 'direct' } }],
    ['behavior_prompt_required /behaviorPrompt', { mutationSettings: { mode: 'ai' } }],
    [
      'invalid_cron_schedule /executionSettings/cron/schedule',
      { executionSettings: { visibility: 'cron', cron: { schedule: '61 * * * *' } } },
    ],
    ['validation_failed /inputSchema/laps?', { inputSchema: { 'laps?': 'integer' } }],
    [
      'validation_failed /readEntities/0/filter/0',
      { inputSchema: { id: 'string' }, readEntities: [{ schema: 'horse', filter: ['input.id'] }] },
    ],
    ['validation_failed /readEntities/0/where', { readEntities: [{ schema: 'horse', where: 'speed > 3' }] }],
    [
      'validation_failed /readEntities/0/orderBy',
      { readEntities: [{ schema: 'horse', where: 'instance.speed > input.least', orderBy: 'speed down' }] },
    ],
    ['validation_failed /guards/deny/0', { guards: { deny: [''] } }],
    [
      'invalid_template /mutationSettings/template/horse:H1/wins',
      { mutationSettings: { mode: 'direct', template: { 'horse:H1': { wins: '{{ 1 + }}' } } } },
    ],
  ])('finds %s', (problem, version) => {
    expect(found(version)).toEqual([problem]);
  });

  it('looks for suggestions for as many paths as some names can be compared with', () => {
    const fields = Array.from({ length: 500 }, (_, index) => [`laps${index}`, 'integer']);
    const readEntities = Array.from({ length: 200 }, () => ({ schema: 'horse', filter: ['lpas7', 'lpas8'] }));
    const version = { ...EMPTY_VERSION, inputSchema: Object.fromEntries(fields), readEntities };
    const problems = versionProblems(version, NOW).flatMap((kind) => kind.problems);
    const suggested = problems.filter(({ message }) => message.includes('Did you mean'));
    expect([problems.length, suggested.length]).toEqual([400, 2]);
  });

  it('lets a contract stay that was saved before its patterns were bounded together', () => {
    const fields = Array.from({ length: 60 }, (_, index): [string, object] => [
      `p${index}`,
      { type: 'string', pattern: `^\\p{L}[\\p{L}\\p{N} '-]{0,${40 + index}}$` },
    ]);
    const inputSchema = { type: 'object', properties: Object.fromEntries(fields) } as never;
    const version = { ...EMPTY_VERSION, inputSchema };
    const problemsOf = (saved?: StoredVersion) =>
      versionProblems(version, NOW, saved).flatMap((kind) => kind.problems);
    expect(problemsOf()).not.toEqual([]);
    expect(problemsOf(version)).toEqual([]);
  });

  it('finds nothing in an empty version', () => {
    expect(found({})).toEqual([]);
  });
});
