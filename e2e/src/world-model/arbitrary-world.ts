import type { JsonObject, JsonValue } from '@orrery/contracts';
import fc from 'fast-check';
import {
  type AttributeChange,
  type AttributePlan,
  type ChangePlan,
  FITTING,
  OPERATORS,
  type SchemaPlan,
  type Term,
  type VersionPlan,
  type WorldPlan,
} from './plan.js';

export const SCHEMAS = ['ship', 'port'] as const;
export const EVENTS = ['e0', 'e1', 'e2'] as const;
export const IDS = ['A', 'B', 'x:y'] as const;
export const ATTRIBUTES = ['n', 'f', 's', 'b', 'j'] as const;

/** Values that fit some attributes and break others. */
export const value: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue>(
  ...[0, 1, -1, 3, 7, 0.5, Number.MAX_SAFE_INTEGER, 'a', 'b', 'zz', '', true, false, null],
  ...[[], [1], {}, { k: 1 }],
);

const fitting = fc.record(
  Object.fromEntries(Object.entries(FITTING).map(([name, one]) => [name, fc.constant(one)])),
);
const anyState = fc.dictionary(fc.constantFrom(...ATTRIBUTES, 'extra'), value, { maxKeys: 3 });
export const state: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 2, arbitrary: fitting },
  { weight: 2, arbitrary: fc.tuple(fitting, anyState).map(([usual, other]) => ({ ...usual, ...other })) },
  { weight: 1, arbitrary: anyState },
);

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
      .tuple(fc.constantFrom(...constraints), fc.constantFrom(false, false, true))
      .map(([some, required]) => (required ? { ...some, required } : some)),
    defaultValue: fc.constantFrom(null, ...defaults),
  });
}

const schema = (name: string): fc.Arbitrary<SchemaPlan> =>
  fc.record(attributesByName, { requiredKeys: ['n'] }).map((parts) => ({
    name,
    attributes: ATTRIBUTES.flatMap((one) => {
      const part = parts[one];
      return part === undefined ? [] : [{ name: one, ...part }];
    }),
  }));

const literal = (value: JsonValue): Term => ({ kind: 'literal', value });
const inputNamed = (name: string): Term => ({ kind: 'input', name });

const anyTerm: fc.Arbitrary<Term> = fc.oneof(
  value.map(literal),
  fc.constantFrom('n', 's', 'id').map(inputNamed),
  fc.record({
    kind: fc.constant('read' as const),
    schema: fc.constantFrom(...SCHEMAS),
    attribute: fc.constantFrom(...ATTRIBUTES),
    plusN: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('count' as const), schema: fc.constantFrom(...SCHEMAS) }),
);

const anyChange: fc.Arbitrary<[string, AttributeChange]> = fc.tuple(
  fc.constantFrom(...ATTRIBUTES, 'extra'),
  fc.record({ operator: fc.constantFrom(...OPERATORS), term: anyTerm }),
);

/** What often succeeds, so that states go somewhere. */
const usualChange = fc.constantFrom<[string, AttributeChange]>(
  ['n', { operator: '$increment', term: literal(1) }],
  ['n', { operator: '$increment', term: inputNamed('n') }],
  ['n', { operator: 'set', term: { kind: 'read', schema: 'ship', attribute: 'n', plusN: true } }],
  ['n', { operator: 'set', term: { kind: 'count', schema: 'port' } }],
  ['f', { operator: 'set', term: literal(1.5) }],
  ['f', { operator: '$unset', term: literal(null) }],
  ['s', { operator: 'set', term: literal('b') }],
  ['s', { operator: 'set', term: literal(null) }],
  ['b', { operator: '$set', term: literal(false) }],
  ['j', { operator: '$set', term: literal([2]) }],
  ['j', { operator: 'set', term: literal([3]) }],
  ['extra', { operator: '$append', term: inputNamed('id') }],
  ['extra', { operator: 'set', term: literal([1]) }],
);

const attributeChange = fc.oneof({ weight: 1, arbitrary: anyChange }, { weight: 8, arbitrary: usualChange });

const oneIn = (count: number) => fc.integer({ min: 1, max: count }).map((roll) => roll === count);

const change: fc.Arbitrary<ChangePlan> = fc.record({
  schema: fc.constantFrom(...SCHEMAS),
  id: fc.constantFrom('@id', '@id', '@other', 'A'),
  remove: oneIn(9),
  attributes: fc
    .array(attributeChange, { minLength: 1, maxLength: 3 })
    .map((changes) => Object.fromEntries(changes)),
});

const mode = fc.constantFrom('partial' as const, 'full' as const, 'append' as const);
const rarely = <T>(arbitrary: fc.Arbitrary<T>, otherwise: T) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary });

const readings: VersionPlan['reads'][] = [
  [{ schema: 'ship' }, { schema: 'port' }],
  [{ schema: 'ship', filter: ['id'] }, { schema: 'port' }],
  [{ schema: 'ship', filter: ['id', 'ids'] }],
  [
    { schema: 'port', filter: ['other'] },
    { schema: 'port', filter: ['id'] },
  ],
  [],
];

export const version: fc.Arbitrary<VersionPlan> = fc.record({
  strictInput: fc.boolean(),
  reads: fc.constantFrom(...readings),
  modes: fc.oneof(
    fc.constant(null),
    fc.record({ ship: mode, port: mode }),
    fc.record({ ship: mode, port: mode }, { requiredKeys: ['ship'] }),
  ) as fc.Arbitrary<VersionPlan['modes']>,
  changes: fc.uniqueArray(change, {
    minLength: 1,
    maxLength: 2,
    selector: ({ schema, id }) => `${schema}:${id}`,
  }),
  result: fc.oneof(fc.constant(null), fc.constant(inputNamed('n')), anyTerm),
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
