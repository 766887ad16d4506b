import type { z } from 'zod';
import { type JsonSchema, referencesIn, type Side, toJsonSchema, withReferences } from './json-schema.js';

/**
 * Collects the named schemas of all operations as OpenAPI components. A schema that differs between sender and receiver
 * (defaults make members optional for the sender) becomes two: `Name` for answers, `NameInput` for requests.
 */
export interface SchemaBook {
  /** The schema with references to components for its named parts. */
  inline(schema: z.ZodType, side: Side): JsonSchema;
  components(): Record<string, JsonSchema>;
}

type Definitions = Record<Side, Record<string, JsonSchema>>;

export function createSchemaBook(schemas: readonly { schema: z.ZodType; side: Side }[]): SchemaBook {
  const definitions: Definitions = { input: {}, output: {} };
  for (const { schema, side } of schemas)
    Object.assign(definitions[side], toJsonSchema(schema, side).definitions);
  const differing = differingIds(definitions);
  const nameOn = (side: Side) => (id: string) => (side === 'input' && differing.has(id) ? `${id}Input` : id);
  const withComponents = (schema: JsonSchema, side: Side) =>
    withReferences(schema, nameOn(side)) as JsonSchema;

  return {
    inline: (schema, side) => withComponents(toJsonSchema(schema, side).schema, side),
    components: () => {
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
