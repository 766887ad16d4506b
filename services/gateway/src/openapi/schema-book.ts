import type { z } from 'zod';
import { type JsonSchema, referencesIn, type Side, toJsonSchema, withReferences } from './json-schema.js';

/**
 * Collects the named schemas of all operations as OpenAPI components. One that reads differently from the two sides
 * (defaults make members optional for who sends) becomes two: `Name` as it is answered, `NameInput` as it is sent.
 */
export interface SchemaBook {
  /** The schema in place, its named parts as references to components. Only after all were collected. */
  inPlace(schema: z.ZodType, side: Side): JsonSchema;
  components(): Record<string, JsonSchema>;
}

type Definitions = Record<Side, Record<string, JsonSchema>>;

export function createSchemaBook(schemas: readonly { schema: z.ZodType; side: Side }[]): SchemaBook {
  const definitions: Definitions = { input: {}, output: {} };
  for (const { schema, side } of schemas)
    Object.assign(definitions[side], toJsonSchema(schema, side).definitions);
  const differing = differingIds(definitions);
  const nameOn = (side: Side) => (id: string) => (side === 'input' && differing.has(id) ? `${id}Input` : id);
  const place = (schema: JsonSchema, side: Side) => withReferences(schema, nameOn(side)) as JsonSchema;

  return {
    inPlace: (schema, side) => place(toJsonSchema(schema, side).schema, side),
    components: () => {
      const named = (['input', 'output'] as const).flatMap((side) =>
        Object.entries(definitions[side]).map(
          ([id, schema]) => [nameOn(side)(id), place(schema, side)] as const,
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
