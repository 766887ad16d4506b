import type { JsonObject } from '@orrery/sdk';
import { defined, nameIn } from '../layout/search-values.js';
import { isObject } from './json.js';

/** What the address of the page holds. */
export interface RunSearch {
  /** The event that is chosen. */
  event?: string | undefined;
  /** What its form starts with, such as the input of an earlier execution. */
  input?: JsonObject | undefined;
}

export const readRunSearch = ({ event, input }: Record<string, unknown>): RunSearch =>
  defined({ event: nameIn(event), input: isObject(input) ? input : undefined });
