import type { JsonValue } from '@orrery/contracts';
import fc from 'fast-check';
import { ATTRIBUTES, SCHEMAS, value } from './arbitrary-values.js';
import {
  type AttributeChange,
  type AttributePlan,
  type ChangePlan,
  OPERATORS,
  type SchemaPlan,
  type Term,
  type VersionPlan,
  type WorldPlan,
} from './plan.js';

const attributesByName: Record<(typeof ATTRIBUTES)[number], fc.Arbitrary<Omit<AttributePlan, 'name'>>> = {
  n: attribute('integer', [{}, { min: 0 }, { min: -2, max: 5 }], [0, 1]),
  f: attribute('float', [{}, { max: 4.5 }], [0.5]),
  s: attribute('string', [{}, { enum: ['a', 'b'] }, { pattern: '^[ab]*$' }], ['a']),
  b: attribute('boolean', [{}], [true]),
  j: attribute('json', [{}], [[], {}, [1], { k: 0 }]),
};

function attribute(
  type: AttributePlan['type'],
  constraints: AttributePlan['constraints'][],
  defaults: JsonValue[],
): fc.Arbitrary<Omit<AttributePlan, 'name'>> {
  return fc.record({
    type: fc.constant(type),
    constraints: fc
      .tuple(fc.constantFrom(...constraints), fc.boolean())
      .map(([some, required]) => (required ? { ...some, required } : some)),
    defaultValue: fc.constantFrom(null, ...defaults),
  });
}

const schema = (name: string): fc.Arbitrary<SchemaPlan> =>
  fc.record(attributesByName, { requiredKeys: [] }).map((parts) => ({
    name,
    attributes: ATTRIBUTES.flatMap((one) => {
      const part = parts[one];
      return part === undefined ? [] : [{ name: one, ...part }];
    }),
  }));

const term: fc.Arbitrary<Term> = fc.oneof(
  fc.record({ kind: fc.constant('literal' as const), value }),
  fc.record({ kind: fc.constant('input' as const), name: fc.constantFrom('n', 's', 'id') }),
  fc.record({
    kind: fc.constant('read' as const),
    schema: fc.constantFrom(...SCHEMAS),
    attribute: fc.constantFrom(...ATTRIBUTES),
    plusN: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('count' as const), schema: fc.constantFrom(...SCHEMAS) }),
);

const attributeChange: fc.Arbitrary<[string, AttributeChange]> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constantFrom(...ATTRIBUTES, 'extra'),
      fc.record({ operator: fc.constantFrom(...OPERATORS), term }),
    ),
  },
  // What often succeeds, so that states go somewhere.
  {
    weight: 2,
    arbitrary: fc.constantFrom<[string, AttributeChange]>(
      ['n', { operator: '$increment', term: { kind: 'literal', value: 1 } }],
      ['n', { operator: '$increment', term: { kind: 'input', name: 'n' } }],
      ['f', { operator: 'set', term: { kind: 'literal', value: 1.5 } }],
      ['s', { operator: 'set', term: { kind: 'literal', value: 'b' } }],
      ['b', { operator: '$set', term: { kind: 'literal', value: false } }],
      ['j', { operator: '$set', term: { kind: 'literal', value: [2] } }],
      ['extra', { operator: '$append', term: { kind: 'input', name: 'id' } }],
    ),
  },
);

const change: fc.Arbitrary<ChangePlan> = fc.record({
  schema: fc.constantFrom(...SCHEMAS),
  id: fc.constantFrom('@id', '@id', '@other', 'A'),
  remove: fc.integer({ min: 0, max: 7 }).map((roll) => roll === 0),
  attributes: fc.array(attributeChange, { maxLength: 3 }).map((changes) => Object.fromEntries(changes)),
});

const mode = fc.constantFrom('partial' as const, 'full' as const, 'append' as const);
const rarely = <T>(arbitrary: fc.Arbitrary<T>, otherwise: T) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary });

export const version: fc.Arbitrary<VersionPlan> = fc.record({
  strictInput: fc.boolean(),
  reads: fc.array(
    fc.record(
      {
        schema: fc.constantFrom(...SCHEMAS),
        filter: fc.constantFrom(['id'], ['id', 'ids'], ['other']),
      },
      { requiredKeys: ['schema'] },
    ),
    { maxLength: 2 },
  ),
  modes: fc.oneof(
    fc.constant(null),
    fc.record({ ship: mode, port: mode }),
    rarely(fc.record({ ship: mode, port: mode }, { requiredKeys: [] }), { ship: 'partial' }),
  ) as fc.Arbitrary<VersionPlan['modes']>,
  changes: fc.uniqueArray(change, {
    minLength: 1,
    maxLength: 2,
    selector: ({ schema, id }) => `${schema}:${id}`,
  }),
  result: fc.option(term),
  resultType: rarely(fc.constantFrom('number' as const, 'string' as const), null as never) as fc.Arbitrary<
    VersionPlan['resultType']
  >,
  guards: rarely(
    fc.record(
      { maxInstances: fc.constant(1), create: fc.boolean(), delete: fc.boolean() },
      { requiredKeys: [] },
    ) as fc.Arbitrary<VersionPlan['guards']>,
    {},
  ),
});

const versions = fc.array(version, { minLength: 1, maxLength: 2 });

export const world: fc.Arbitrary<WorldPlan> = fc.record({
  schemas: fc.tuple(...SCHEMAS.map(schema)),
  events: fc.record({ e0: versions, e1: versions, e2: versions }),
});
