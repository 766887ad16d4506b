import type { JsonObject } from '@orrery/sdk';
import { isObject } from '../forms/json.js';
import { defined, nameIn } from '../ui/search-values.js';

/** What the address of the page holds. */
export interface RunSearch {
  /** The event that is chosen. */
  event?: string | undefined;
  /** Another version than the bound one, for dry runs. */
  version?: number | undefined;
  /** What its form starts with, such as the input of an earlier execution. */
  input?: JsonObject | undefined;
}

const versionIn = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined;

export const readRunSearch = ({ event, version, input }: Record<string, unknown>): RunSearch =>
  defined({ event: nameIn(event), version: versionIn(version), input: isObject(input) ? input : undefined });
