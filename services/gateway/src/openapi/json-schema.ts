import { z } from 'zod';

/** A JSON Schema as data: 2020-12, which OpenAPI 3.1 uses as it is. */
export type JsonSchema = { [keyword: string]: unknown };
export type Side = 'input' | 'output';

export interface Converted {
  schema: JsonSchema;
  /** The named schemas that it refers to as `#/$defs/<id>`. */
  definitions: Record<string, JsonSchema>;
}

/** A zod schema as JSON Schema, seen from the side of who sends (`input`) or who receives (`output`). */
export function toJsonSchema(schema: z.ZodType, io: Side): Converted {
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
