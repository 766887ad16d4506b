import { z } from 'zod';
import { timestamp } from './text.js';

/** The number of a record among those of its kind. */
export const recordId = z.int().min(1);

/** What every record has beside its own members. */
export const recordTimes = {
  createdAt: timestamp.describe('When it was created.'),
  updatedAt: timestamp.describe('When it was last changed: `createdAt` if never.'),
};
