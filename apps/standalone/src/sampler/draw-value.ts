import { isJsonObject, type JsonObject, type JsonValue } from '@orrery/contracts';
import { drawNumber, drawText } from './draw-scalar.js';
import { type Random, SchemaNotDrawable } from './random.js';

/** Levels below which only what is required is drawn, so that recursive schemas end. */
const MAX_DEPTH = 12;
/** Levels of schemas that require themselves without end. */
const DEEPEST = 64;
/** Schemas visited for one value: a list may ask for any number of items. */
const MAX_STEPS = 20_000;
/** Items of a list that the schema does not bound. */
const ITEMS = 3;
/** How often an optional member is left out, and `null` is chosen where it is one of the possibilities. */
const ABSENT = 0.4;

/**
 * Draws a value that fits a JSON Schema (2020-12): `$ref` within the document, `const`, `enum`, `anyOf`, `oneOf`,
 * `allOf`, `type`, bounds of numbers, lengths and patterns of texts, items and members. Other keywords (`not`, `if`,
 * `dependentSchemas`, …) are ignored: the value may break them. @throws SchemaNotDrawable
 */
export function drawValue(schema: JsonValue, random: Random): JsonValue {
  return draw(schema, { root: schema, random, depth: 0, steps: { left: MAX_STEPS } });
}

interface Drawing {
  readonly root: JsonValue;
  readonly random: Random;
  readonly depth: number;
  readonly steps: { left: number };
}

const deeper = (drawing: Drawing): Drawing => {
  drawing.steps.left -= 1;
  if (drawing.steps.left < 0 || drawing.depth >= DEEPEST)
    throw new SchemaNotDrawable('its values are too large');
  return { ...drawing, depth: drawing.depth + 1 };
};

function draw(given: JsonValue | undefined, around: Drawing): JsonValue {
  if (given === false) throw new SchemaNotDrawable('nothing fits the schema false');
  const drawing = deeper(around);
  const { random } = drawing;
  const schema = resolved(isJsonObject(given) ? given : {}, drawing);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return chooseFrom(schema.enum, random);
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches)) return drawBranch(schema, branches, drawing);
  return drawType(typeOf(schema, drawing), schema, drawing);
}

/** The schema that a `$ref` leads to, with what stands in `allOf` and beside the `$ref`. */
function resolved(schema: JsonObject, around: Drawing): JsonObject {
  const drawing = deeper(around);
  const { $ref, allOf, ...own } = schema;
  const target = typeof $ref === 'string' ? resolved(at(drawing.root, $ref), drawing) : {};
  const parts = Array.isArray(allOf) ? allOf.filter(isJsonObject) : [];
  return parts.reduce((all, one) => merged(all, resolved(one, drawing)), merged(target, own));
}

/** Both at once, where they speak of different keywords or of different members. */
function merged(first: JsonObject, second: JsonObject): JsonObject {
  const both = { ...first, ...second };
  if (isJsonObject(first.properties) && isJsonObject(second.properties))
    both.properties = { ...first.properties, ...second.properties };
  if (Array.isArray(first.required) && Array.isArray(second.required))
    both.required = [...first.required, ...second.required];
  return both;
}

/** What a reference within the document (RFC 6901, as a fragment) leads to. */
function at(root: JsonValue, reference: string): JsonObject {
  if (!/^#(\/|$)/.test(reference)) throw new SchemaNotDrawable(`${reference} leads out of the schema`);
  const keys = decodeURIComponent(reference).split('/').slice(1);
  const unescaped = keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const found = unescaped.reduce<JsonValue | undefined>(
    (value, key) =>
      Array.isArray(value) ? value[Number(key)] : isJsonObject(value) ? value[key] : undefined,
    root,
  );
  if (!isJsonObject(found)) throw new SchemaNotDrawable(`${reference} leads nowhere`);
  return found;
}

function drawBranch(
  { anyOf, oneOf, ...beside }: JsonObject,
  branches: JsonValue[],
  drawing: Drawing,
): JsonValue {
  const { random, depth } = drawing;
  const nulls = branches.filter(isNull);
  const others = branches.filter((branch) => !isNull(branch) && branch !== false);
  const wantsNull = depth > MAX_DEPTH || random.chance(ABSENT);
  if (nulls.length > 0 && (wantsNull || others.length === 0)) return null;
  const chosen = chooseFrom(others, random);
  return draw(isJsonObject(chosen) ? merged(beside, chosen) : beside, drawing);
}

const isNull = (schema: JsonValue): boolean =>
  isJsonObject(schema) && (schema.type === 'null' || schema.const === null);

function chooseFrom<T>(values: readonly T[], random: Random): T {
  if (values.length === 0) throw new SchemaNotDrawable('there is nothing to choose from');
  return random.oneOf(values);
}

const TYPES_BY_KEYWORD: readonly (readonly [string, string])[] = [
  ['properties', 'object'],
  ['items', 'array'],
  ['pattern', 'string'],
  ['minLength', 'string'],
  ['maxLength', 'string'],
  ['minimum', 'number'],
  ['maximum', 'number'],
];

/** One of the types that the schema names, or the one that its keywords speak of. */
function typeOf({ type, ...keywords }: JsonObject, { random, depth }: Drawing): JsonValue {
  const implied = TYPES_BY_KEYWORD.find(([keyword]) => keyword in keywords)?.[1] ?? 'string';
  if (!Array.isArray(type)) return type ?? implied;
  const others = type.filter((one) => one !== 'null');
  const wantsNull = depth > MAX_DEPTH || random.chance(ABSENT);
  return others.length < type.length && (wantsNull || others.length === 0)
    ? 'null'
    : chooseFrom(others, random);
}

function drawType(type: JsonValue, schema: JsonObject, drawing: Drawing): JsonValue {
  if (type === 'null') return null;
  if (type === 'boolean') return drawing.random.chance(0.5);
  if (type === 'integer' || type === 'number') return drawNumber(schema, type === 'integer', drawing.random);
  if (type === 'array') return drawArray(schema, drawing);
  if (type === 'object') return drawObject(schema, drawing);
  if (type === 'string') return drawText(schema, drawing.random);
  throw new SchemaNotDrawable(`there is no type ${String(type)}`);
}

/** Items of a list. Items that name an instance (`instanceId`) name a different one each. */
function drawArray(schema: JsonObject, drawing: Drawing): JsonValue[] {
  const least = typeof schema.minItems === 'number' ? schema.minItems : 0;
  const most = typeof schema.maxItems === 'number' ? schema.maxItems : Math.max(least, ITEMS);
  if (least > most) throw new SchemaNotDrawable(`no list has ${least} to ${most} items`);
  const wanted = countOf(least, most, drawing);
  const heads = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const items: JsonValue[] = [];
  const names = new Set<string>();
  for (let tries = 0; items.length < wanted && tries < 4 * wanted; tries += 1) {
    const item = draw(heads[items.length] ?? schema.items, drawing);
    const name = nameOf(item, schema.uniqueItems === true) ?? `item ${tries}`;
    if (!names.has(name)) items.push(item);
    names.add(name);
  }
  if (items.length < least) throw new SchemaNotDrawable(`no ${least} different items were found`);
  return items;
}

/** At least one item where there may be one; deeper down at most one, since lists of lists grow fast. */
function countOf(least: number, most: number, { random, depth }: Drawing): number {
  if (depth > MAX_DEPTH) return least;
  if (depth > MAX_DEPTH / 2) return random.whole(least, Math.max(least, Math.min(1, most)));
  return random.whole(Math.max(least, Math.min(1, most)), most);
}

/** What must not occur twice in a list. */
function nameOf(item: JsonValue, isUnique: boolean): string | undefined {
  if (isUnique) return JSON.stringify(item);
  if (!isJsonObject(item) || item.instanceId === undefined) return undefined;
  return JSON.stringify([item.entitySchema, item.instanceId]);
}

/** What is required, and some of the rest. */
function drawObject(schema: JsonObject, drawing: Drawing): JsonObject {
  const { random, depth } = drawing;
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required.map(String) : []);
  const isDrawn = (name: string) =>
    required.has(name) || (depth <= MAX_DEPTH && properties[name] !== false && !random.chance(ABSENT));
  const names = [...new Set([...Object.keys(properties), ...required])].filter(isDrawn);
  const { additionalProperties } = schema;
  return Object.fromEntries(
    names.map((name) => [name, draw(properties[name] ?? additionalProperties ?? {}, drawing)]),
  );
}
