import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { timestamp } from './text.js';

/** The number of a record among those of its kind. */
export const recordId = z.int().min(1);

/** What every record has beside its own members. */
export const recordTimes = {
  createdAt: timestamp.describe('When it was created.'),
  updatedAt: timestamp.describe('When it was last changed: `createdAt` if never.'),
};

/** `0x` and 40 lowercase hex digits: 20 random bytes. */
export const newAddress = (): string => `0x${randomBytes(20).toString('hex')}`;

export const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/, 'An address has 0x and 40 lowercase hex digits.')
  .meta({
    id: 'Address',
    description: 'An address: 0x and 40 lowercase hex digits.',
    example: `0x${'4f'.repeat(20)}`,
  });

const NUMERIC_ID = /^[1-9]\d{0,15}$/;
const HEX_ADDRESS = /^0x[0-9a-f]{40}$/i;

/** A reference to a world or deployment: its numeric id or its address, in any case of letters. */
export type Reference = { id: number } | { address: string };

/** What a path segment refers to; `undefined` when it can be neither an id nor an address. */
export function parseReference(segment: string): Reference | undefined {
  if (NUMERIC_ID.test(segment))
    return Number.isSafeInteger(Number(segment)) ? { id: Number(segment) } : undefined;
  return HEX_ADDRESS.test(segment) ? { address: segment.toLowerCase() } : undefined;
}
