import { expect, it } from 'vitest';
import { createUnite } from './catalog-client.js';

const schema = (schemaId: number, hash: string) => ({ schemaId, name: `s${schemaId}`, attributes: [], hash });
const reply = (schemas: readonly unknown[], versions: readonly unknown[]) =>
  ({ versions, schemas: [], worlds: [], sharedSchemas: schemas }) as never;
const shared = (versionId: number, schemas: readonly number[]) => ({
  state: 'shared',
  definition: { versionId, schemas },
});

/** The schemas of each version. */
const schemasOf = ({ versions }: ReturnType<ReturnType<typeof createUnite>>) =>
  versions.map((answer) => (answer.state === 'changed' ? answer.definition.schemas : answer.state));

it('gives versions their schemas, one object for one schema, in one reply and in the next', () => {
  const unite = createUnite();
  const [first, second] = schemasOf(
    unite(reply([schema(1, 'a'), schema(2, 'a')], [shared(1, [0, 1]), shared(2, [1])])),
  ) as Record<string, object>[];
  expect(first).toEqual({ s1: schema(1, 'a'), s2: schema(2, 'a') });
  expect(second?.['s2']).toBe(first?.['s2']);
  const [next] = schemasOf(unite(reply([schema(2, 'b'), schema(1, 'a')], [shared(3, [0, 1])]))) as Record<
    string,
    object
  >[];
  expect(next?.['s1']).toBe(first?.['s1']);
  expect(next?.['s2']).toEqual(schema(2, 'b'));
});

it('leaves other answers as they are, also those of a catalog of the previous release', () => {
  const versions = [{ state: 'same' }, { state: 'later' }, { state: 'changed', definition: { schemas: {} } }];
  const united = createUnite()({ versions, schemas: [], worlds: [] } as never);
  expect(united).toEqual({ versions, schemas: [], worlds: [] });
});
