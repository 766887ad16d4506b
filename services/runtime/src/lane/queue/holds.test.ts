import { describe, expect, it } from 'vitest';
import type { Holds } from '../../store/state/deployment-state.js';
import { inTheWayOf, OpenRuns } from '../../store/state/deployment-state.js';
import { mustWait } from './decide-batch.js';

const runs = (holds: Partial<Holds> | null, staged = false, awaitsPayment = false) =>
  new OpenRuns([
    {
      id: 'r1',
      step: 0,
      claim: null,
      holds: holds && { instances: [], schemas: [], ...holds },
      staged,
      awaitsPayment,
    },
  ]);
const effects = (parts: object) => ({ entry: { changes: [] }, ...parts }) as never;
const change = (entitySchema: string, instanceId: string) =>
  effects({ entry: { changes: [{ entitySchema, instanceId }] } });

describe('an item', () => {
  it.each<[string, Partial<Holds> | null, boolean]>([
    ['nothing', null, false],
    ['another instance', { instances: ['horse:H2'] }, false],
    ['the instance', { instances: ['horse:H2', 'horse:H1'] }, true],
    ['another schema', { schemas: ['race'] }, false],
    ['the schema', { schemas: ['horse'] }, true],
  ])('that changes an instance while a run holds %s', (_what, holds, waits) => {
    expect(mustWait(change('horse', 'H1'), runs(holds), undefined) !== undefined).toBe(waits);
  });

  it('of the holding run itself does not wait', () => {
    expect(mustWait(change('horse', 'H1'), runs({ instances: ['horse:H1'] }), 'r1')).toBeUndefined();
  });

  it.each<[string, object, boolean]>([
    ['bindings', { bindings: { put: [], remove: ['race'] } }, true],
    ['a lock', { row: { mode: 'locked' } }, true],
    ['a pause', { row: { owner_paused: true } }, true],
    ['a name', { row: { name: 'Derby' } }, false],
    ['a publication', { row: { is_public: true } }, false],
    ['an execution', {}, false],
  ])('that is %s, while a payment is awaited', (_what, parts, waits) => {
    expect(mustWait(effects(parts), runs(null, true), undefined) !== undefined).toBe(waits);
    expect(mustWait(effects(parts), runs(null, false), undefined)).toBeUndefined();
  });

  it('that deletes the deployment is refused while a payment settles', () => {
    const deletion = effects({ row: { deleted_at: new Date() } });
    expect(() => mustWait(deletion, runs(null, true), undefined)).toThrow(
      expect.objectContaining({ code: 'deployment_busy' }),
    );
    expect(mustWait(deletion, runs({ schemas: ['horse'] }), undefined)).toBeUndefined();
  });
});

it.each<[Partial<Holds>, Partial<Holds>, boolean]>([
  [{ instances: ['horse:H1'] }, { instances: ['horse:H2'] }, true],
  [{ instances: ['horse:H1'] }, { instances: ['horse:H1'] }, false],
  [{ instances: ['horse:H1'] }, { schemas: ['horse'] }, false],
  [{ schemas: ['horse'] }, { instances: ['horse:H1'] }, false],
  [{ schemas: ['horse'] }, { schemas: ['horse'] }, false],
  [{ schemas: ['horse'] }, { schemas: ['race'], instances: ['owner:horse:1'] }, true],
])('%j can be held beside %j: %s', (wanted, held, can) => {
  const all = { instances: [], schemas: [], ...wanted };
  expect(inTheWayOf(all, runs(held), 'r2') === undefined).toBe(can);
  expect(inTheWayOf(all, runs(held), 'r1')).toBeUndefined();
});

describe('open runs', () => {
  const horses = { instances: ['horse:H1', 'horse:H2'], schemas: [] };
  const run = {
    id: 'r1',
    step: 0,
    claim: { keyId: 'k', requestHash: 'h' },
    holds: horses,
    staged: false,
    awaitsPayment: false,
  };

  it('hold what their last step says', () => {
    const open = new OpenRuns([run]);
    open.set({ ...run, holds: { instances: ['horse:H2'], schemas: ['race'] } });
    const names = ['instance horse:H1', 'instance horse:H2', 'instances in horse', 'schema race'];
    expect(names.map((name) => open.isHeld(name))).toEqual([false, true, true, true]);
    open.delete('r1');
    expect(names.some((name) => open.isHeld(name))).toBe(false);
  });

  it('hold a name until the last of them has released it', () => {
    const open = new OpenRuns([
      run,
      { ...run, id: 'r2', claim: null, holds: { ...horses, instances: ['horse:H3'] } },
    ]);
    open.delete('r1');
    expect([open.isHeld('instances in horse'), open.isHeld('instances in horse', 'r2')]).toEqual([
      true,
      false,
    ]);
  });

  it('claim their Idempotency-Keys until they end', () => {
    const open = new OpenRuns([run]);
    open.set({ ...run, holds: null });
    expect(open.claimantOf('k')).toMatchObject({ id: 'r1' });
    open.delete('r1');
    expect(open.claimantOf('k')).toBeUndefined();
  });
});
