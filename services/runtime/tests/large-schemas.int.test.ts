import { beforeAll, expect, it } from 'vitest';
import { attribute } from './fake-catalog.js';
import { type House, plantDeployment, prepareHouse, untilTaken } from './running-runtime.js';

const KIB = 1024;
/** A reply of the bus has at most 32 MiB, and the schemas of this world have 3 MiB. */
const SCHEMAS = 12;
const EVENTS = Array.from({ length: 12 }, (_, index) => `large ${index}`);

const house: House = await prepareHouse();
beforeAll(async () => {
  await house.boot({});
  const note = attribute('note', 'string', { defaultValue: 'x'.repeat(256 * KIB) });
  for (let index = 0; index < SCHEMAS; index += 1) house.catalog.plantSchema(`schema ${index}`, [note]);
  // Without a map of state changes an event runs with all schemas of its world.
  for (const event of EVENTS)
    house.catalog.plantVersion({ event, mutationSettings: { mode: 'direct', template: {} } });
});

it.each(['upgradable', 'locked'])('many events of a world with large schemas are bound: %s', async (mode) => {
  const bindings = EVENTS.map((event) => ({ event, eventVersion: 1 }));
  // Megabytes at once are too much for a busy machine, at first.
  const { execute, history } = await untilTaken(() => plantDeployment(house, { bindings, mode }));
  const executed = await Promise.all(EVENTS.map((event) => untilTaken(() => execute({}, {}, event))));
  expect(executed).toHaveLength(EVENTS.length);
  expect(await history()).toHaveLength(EVENTS.length);
});
