import { z } from 'zod';

/** The names of the properties that a schema declares at a path; none where it is no object with fixed properties. */
export function knownProperties(schema: unknown, path: readonly PropertyKey[]): string[] {
  if (schema instanceof z.ZodPipe) return knownProperties(schema.in, path);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => knownProperties(option, path));
  if (isWrapper(schema)) return knownProperties(schema.unwrap(), path);
  const [key, ...rest] = path;
  if (schema instanceof z.ZodObject)
    return key === undefined ? Object.keys(schema.shape) : knownProperties(schema.shape[String(key)], rest);
  if (key === undefined) return [];
  if (schema instanceof z.ZodArray) return knownProperties(schema.element, rest);
  return schema instanceof z.ZodRecord ? knownProperties(schema.valueType, rest) : [];
}

const isWrapper = (schema: unknown): schema is z.ZodOptional | z.ZodNullable | z.ZodDefault =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
