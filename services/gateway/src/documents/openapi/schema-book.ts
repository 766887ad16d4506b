import { z } from 'zod';

export type SchemaBook = ReturnType<typeof createSchemaBook>;

type Definitions = Record<Side, Record<string, JsonSchema>>;

/**
 * Collects the named schemas of all operations as OpenAPI components. A schema that differs between sender and receiver
 * (defaults make members optional for the sender) becomes two: `Name` for answers, `NameInput` for requests.
 */
export function createSchemaBook(schemas: readonly { schema: z.ZodType; side: Side }[]) {
  const definitions: Definitions = { input: {}, output: {} };
  for (const { schema, side } of schemas)
    Object.assign(definitions[side], toJsonSchema(schema, side).definitions);
  const differing = differingIds(definitions);
  const nameOn = (side: Side) => (id: string) => (side === 'input' && differing.has(id) ? `${id}Input` : id);
  const withComponents = (schema: JsonSchema, side: Side) =>
    withReferences(schema, nameOn(side)) as JsonSchema;

  return {
    /** The schema with references to components for its named parts. */
    inline: (schema: z.ZodType, side: Side) => withComponents(toJsonSchema(schema, side).schema, side),
    components: (): Record<string, JsonSchema> => {
      const named = (['input', 'output'] as const).flatMap((side) =>
        Object.entries(definitions[side]).map(
          ([id, schema]) => [nameOn(side)(id), withComponents(schema, side)] as const,
        ),
      );
      return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)));
    },
  };
}

/** Ids whose two sides differ, by themselves or by what they refer to. */
function differingIds({ input, output }: Definitions): Set<string> {
  const shared = Object.keys(input).filter((id) => id in output);
  const differing = new Set(shared.filter((id) => JSON.stringify(input[id]) !== JSON.stringify(output[id])));
  for (let before = -1; before !== differing.size; ) {
    before = differing.size;
    for (const id of shared)
      if (referencesIn(input[id]).some((other) => differing.has(other))) differing.add(id);
  }
  return differing;
}

/** A JSON Schema as data: 2020-12, which OpenAPI 3.1 uses as it is. */
export type JsonSchema = { [keyword: string]: unknown };
export type Side = 'input' | 'output';

/**
 * A zod schema as JSON Schema, seen from the side of who sends (`input`) or who receives (`output`), and the named schemas
 * that it refers to as `#/$defs/<id>`.
 */
export function toJsonSchema(schema: z.ZodType, io: Side) {
  const converted = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: dropMachineBounds });
  const {
    $schema: _version,
    $defs = {},
    ...rest
  } = converted as JsonSchema & { $defs?: Record<string, JsonSchema> };
  return { schema: rest, definitions: $defs };
}

/** Removes the bounds of safe integers: they apply everywhere and hide the bounds that matter. */
function dropMachineBounds({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum'];
  if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum'];
}

/** The same schema with every reference renamed. */
export function withReferences(value: unknown, rename: (id: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => withReferences(item, rename));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, child]) => {
    const id = key === '$ref' && typeof child === 'string' ? DEFINITION.exec(child)?.[1] : undefined;
    return [key, id === undefined ? withReferences(child, rename) : `#/components/schemas/${rename(id)}`];
  });
  return Object.fromEntries(entries);
}

const DEFINITION = /^#\/\$defs\/(.+)$/;

/** Ids of the named schemas that a schema refers to. */
export function referencesIn(value: unknown): string[] {
  const found: string[] = [];
  withReferences(value, (id) => {
    found.push(id);
    return id;
  });
  return found;
}
