import type { JsonObject } from '@orrery/sdk';

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object out of a page's address. */
export const objectIn = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined);
