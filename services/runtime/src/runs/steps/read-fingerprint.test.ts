import type { CompiledDefinition } from '@orrery/deciding';
import { describe, expect, test } from 'vitest';
import { fingerprintOf, stillFits } from './read-fingerprint.js';
import { holdsOf } from './run-item.js';

const at = (time: number) => new Date(Date.UTC(2026, 10, 22) + time);
const BASE = {
  binding: { id: 1, versionId: 2, updatedAt: at(0) },
  definitionHash: 'd',
  mode: 'draft' as 'draft' | 'locked',
  reads: [
    { entitySchema: 'horse', instanceId: 'H1', revision: 3 },
    { entitySchema: 'horse', instanceId: 'H2', revision: 1 },
  ],
  rowIds: { H1: 10, H2: 11 } as Record<string, number>,
  wholeSchemas: ['race', 'track'],
  searched: [] as { entitySchema: string; instanceId: string; revision: number }[],
  world: 'w',
  modelId: 'm' as string | null,
};

function fingerprint(changed: Partial<typeof BASE> = {}) {
  const { binding, definitionHash, mode, reads, rowIds, wholeSchemas, searched, world, modelId } = {
    ...BASE,
    ...changed,
  };
  const definition = { definition: { hash: definitionHash } } as CompiledDefinition;
  const get = (_schema: string, id: string) => ({ id: rowIds[id] });
  return fingerprintOf(
    { binding, definition } as Parameters<typeof fingerprintOf>[0],
    { row: { mode }, instances: { get } } as unknown as Parameters<typeof fingerprintOf>[1],
    { reads, wholeSchemas, searched },
    { world: { hash: world } as Parameters<typeof fingerprintOf>[3]['world'], modelId },
  );
}

describe('the read fingerprint', () => {
  const [first, second] = BASE.reads as [(typeof BASE.reads)[0], (typeof BASE.reads)[0]];
  test.each([
    ['another binding', { binding: { ...BASE.binding, id: 9 } }],
    ['another version', { binding: { ...BASE.binding, versionId: 9 } }],
    ['a binding that was changed', { binding: { ...BASE.binding, updatedAt: at(1) } }],
    ['a changed definition', { definitionHash: 'e' }],
    ['a lock', { mode: 'locked' as const }],
    ['a revision', { reads: [{ ...first, revision: 4 }, second] }],
    ['an instance that was created again', { rowIds: { ...BASE.rowIds, H1: 12 } }],
    ['an instance more', { reads: [...BASE.reads, { ...first, instanceId: 'H3' }] }],
    ['an instance less', { reads: [first] }],
    ['a schema read whole', { wholeSchemas: ['race'] }],
    ['an instance that a search went through', { searched: [{ ...first, instanceId: 'H3' }] }],
    ['other texts of the world', { world: 'x' }],
    ['another model', { modelId: 'n' }],
    ['no model', { modelId: null }],
  ])('does not fit after %s', (_what, changed) => {
    expect(stillFits({ ...fingerprint() }, fingerprint(changed))).toBe(false);
  });

  test('does not depend on the order of what was read', () => {
    expect(stillFits({ ...fingerprint({ modelId: null }) }, fingerprint())).toBe(false);
    const other = fingerprint({ reads: [second, first], wholeSchemas: ['track', 'race'] });
    expect(stillFits({ ...fingerprint() }, other)).toBe(true);
  });

  test('of the previous release has no texts and no model', () => {
    const { hash } = fingerprint();
    expect(stillFits({ hash }, fingerprint())).toBe(true);
    expect(stillFits({ hash }, fingerprint({ definitionHash: 'e' }))).toBe(false);
    expect(stillFits(null, fingerprint())).toBe(false);
  });
});

test('a run holds the instances that it names, and the schemas that it reads whole', () => {
  const horse = { entitySchema: 'horse', instanceId: 'H1', revision: 3 };
  const race = { entitySchema: 'race', instanceId: 'R1', revision: 1 };
  expect(holdsOf({ reads: [horse, race], wholeSchemas: ['race'] })).toEqual({
    instances: ['horse:H1'],
    schemas: ['race'],
  });
});
