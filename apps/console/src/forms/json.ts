import type { JsonObject } from '@orrery/sdk';

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A pointer to a member (RFC 6901). */
export const below = (pointer: string, member: string | number): string =>
  `${pointer}/${String(member).replaceAll('~', '~0').replaceAll('/', '~1')}`;
