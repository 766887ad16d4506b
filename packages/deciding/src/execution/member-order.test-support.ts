import type { Evaluator, JsonObject, JsonValue } from '@orrery/contracts';
import fc from 'fast-check';
import { ATTRIBUTES, type CorpusCase, corpusCases, outcomeOf } from './evaluator-corpus.test-support.js';

/** The same JSON with the members of each object made in another order; lists stay as they are. */
function shuffled<T extends JsonValue | object>(value: T, seed: number): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => shuffled(item, seed)) as T;
  const places = Object.keys(value).map((key, at) => ({ key, place: Math.imul(at + 1, seed) % 1009 }));
  const keys = places.sort((a, b) => a.place - b.place).map(({ key }) => key);
  return Object.fromEntries(keys.map((key) => [key, shuffled(value[key as never], seed)])) as T;
}

/** Attributes and instances are in an order that counts: of the definition, and of their creation. */
function withMembersShuffled(
  { parts: { schemas, ...parts }, ...rest }: CorpusCase,
  seed: number,
): CorpusCase {
  const states = Object.entries(rest.states ?? {}).map(([schema, instances]) => [
    schema,
    Object.fromEntries(Object.entries(instances).map(([id, state]) => [id, shuffled(state, seed)])),
  ]);
  return {
    parts: { ...shuffled(parts, seed), ...(schemas && { schemas }) },
    input: shuffled(rest.input, seed),
    states: Object.fromEntries(states),
  };
}

const names = fc.constantFrom('a', 'b', 'B', 'c', '10', '9', '0', 'é', '\u{1F40E}', '\uffee');
const json = fc.letrec<{ json: JsonValue; map: JsonObject }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<JsonValue>(1, 2, 'a', 'z', true, null, [2, 1]),
    tie('map'),
    fc.array(tie('json'), { maxLength: 2 }),
  ),
  map: fc.dictionary(names, tie('json'), { maxKeys: 5 }),
}));

/** Expressions that loop over objects, compare them and write them out. */
const written = fc.letrec<Record<'any' | 'map' | 'text' | 'list', string>>((tie) => {
  const of = (parts: ('any' | 'map' | 'text' | 'list')[], write: (...parts: string[]) => string) =>
    fc.tuple(...parts.map((part) => tie(part))).map((made) => write(...made));
  const depth = { maxDepth: 4 };
  return {
    map: fc.constantFrom('input.map', 'entities.horse', 'entities.horse.H1', 'entities'),
    list: fc.oneof(
      depth,
      of(['map'], (map) => `${map}.map(x, x)`),
      of(['map', 'any'], (map, part) => `${map}.map(x, ${part})`),
      of(['map', 'text'], (map, text) => `${map}.filter(x, x > ${text})`),
      of(['map', 'text', 'any'], (map, text, part) => `${map}.map(x, x != ${text}, ${part})`),
      of(['list'], (list) => `random.shuffle(${list} + ["a", "b"])`),
    ),
    text: fc.oneof(
      depth,
      fc.constantFrom('x', '"b"'),
      of(['map'], (map) => `string(size(${map}))`),
      of(['map', 'map'], (map, other) => `(${map} == ${other} ? "same" : "other")`),
      of(['map', 'text'], (map, text) => `(${map}.exists(x, x == ${text} || ${map}[x] < 2) ? "some" : x)`),
      of(['map', 'text'], (map, text) => `(${map}.all(x, x < ${text} && ${map}[x] != 1) ? "all" : x)`),
      of(['list'], (list) => `string((${list} + ["none"])[0])`),
    ),
    any: fc.oneof(
      depth,
      tie('text'),
      tie('list'),
      tie('map'),
      of(['any', 'any'], (one, other) => `[${one}, ${other}]`),
      of(['any', 'any'], (one, other) => `{"z": ${one}, "a": ${other}}`),
    ),
  };
});

const made = fc
  .record({
    ...{ value: written.any, text: written.any, key: written.text, fails: fc.boolean() },
    map: json.map,
    states: fc.tuple(json.map, json.map),
    mode: fc.constantFrom('partial' as const, 'full' as const, 'append' as const),
  })
  .map(({ value, text, key, fails, map, states: [one, other], mode }): CorpusCase => {
    const bound = (part: string) => `cel.bind(x, "b", ${part})`;
    const change = { j: `{{ ${bound(value)} }}`, q: 1 };
    // Two changes that are refused for different reasons.
    const refused = { 'horse:H2': { s: { $merge: 1 } }, 'horse:NO': { $delete: true } };
    return {
      parts: {
        schemas: ATTRIBUTES,
        readEntities: [{ schema: 'horse' }],
        stateChanges: { horse: mode },
        template: {
          stateChanges: {
            ...(fails && refused),
            [`horse:K{{ ${bound(key)} }}`]: { q: 2 },
            'horse:H1': change,
          },
          result: { value: `{{ ${bound(value)} }}`, text: `it is {{ ${bound(text)} }}` },
        },
      },
      input: { map, id: 'H1' },
      states: { horse: { H1: { q: 1, ...one }, H2: { q: 1, ...other } } },
    };
  });

const kept = corpusCases();
const seed = fc.integer({ min: 2, max: 1008 });

/** What decides differently with its members in another order; undefined: nothing, in so many cases of each kind. */
export function findOrderDependent(runs: number, evaluator: Evaluator): CorpusCase | undefined {
  const one = fc.oneof(fc.constantFrom(...kept), made);
  const property = fc.property(one, seed, (found, by) => {
    const other = withMembersShuffled(found, by);
    return outcomeOf(found, evaluator) === outcomeOf(other, evaluator);
  });
  return fc.check(property, { numRuns: runs }).counterexample?.[0];
}
