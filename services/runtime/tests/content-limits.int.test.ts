import { describe, expect, it } from 'vitest';
import { type House, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const KIB = 1024;
const limits = {
  inputBytes: KIB,
  stateBytes: 2 * KIB,
  entryBytes: 3 * KIB,
  descriptionBytes: KIB,
  bindingsPerDeployment: 2,
};
const house: House = await prepareHouse();
await house.boot({ limits });
const text = (bytes: number) => 'x'.repeat(bytes);

describe('what is beyond the limits of the operator', () => {
  it('an input is refused and leaves no entry', async () => {
    const { execute, createCounter, history } = await plantDeployment(house);
    await createCounter('a');
    const refused = refusalOf(execute({ id: 'a', note: text(KIB) }));
    expect(await refused).toMatchObject({ code: 'invalid_input', errors: [{ pointer: '/input' }] });
    expect(await history()).toEqual([]);
  });

  it('a state is refused', async () => {
    const { params } = await plantDeployment(house);
    const create = (state: object) =>
      house.call('instances.create', { params, body: { entitySchema: 'counter', instanceId: 'b', state } });
    const refused = refusalOf(create({ note: text(2 * KIB) }));
    expect(await refused).toMatchObject({
      code: 'invalid_state',
      message: '/state: A state has at most 2 KiB.',
    });
    await create({ note: text(2 * KIB - 200) });
  });

  it('lists of bindings are refused, in a creation and later', async () => {
    const bindings = [1, 2, 3].map((n) => ({ event: `event ${n}`, eventVersion: 1 }));
    const { params } = await plantDeployment(house, { bindings: [] });
    const tooBig = { code: 'validation_failed', errors: [{ code: 'too_big' }] };
    expect(await refusalOf(house.call('bindings.add', { params, body: bindings }))).toMatchObject(tooBig);
    expect(await refusalOf(house.call('bindings.update', { params, body: bindings }))).toMatchObject(tooBig);
    expect(await refusalOf(plantDeployment(house, { bindings }))).toMatchObject(tooBig);
  });

  it('a description is refused', async () => {
    const { params } = await plantDeployment(house);
    const body = { description: text(KIB + 1) };
    const refused = refusalOf(house.call('deployments.update', { params, body }));
    expect(await refused).toMatchObject({ errors: [{ pointer: '/description' }] });
  });
});

it('the runtime shows its limits', async () => {
  const { inputBytes, stateBytes, entryBytes, bindingsPerDeployment: bindings } = limits;
  const shown = await house.ask('limits.ofDeployments', {});
  expect(shown).toMatchObject({ inputBytes, stateBytes, entryBytes, bindings, instances: 100_000 });
});
