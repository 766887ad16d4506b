/** The two halves of `horse:HORSE_1`. */
export interface ChangeKey {
  schema: string;
  instanceId: string;
}

/** Splits at the first colon (an instanceId may hold more). Undefined: `invalid_change_key`. */
export function splitChangeKey(key: string): ChangeKey | undefined {
  const colon = key.indexOf(':');
  if (colon < 1 || colon === key.length - 1) return undefined;
  return { schema: key.slice(0, colon), instanceId: key.slice(colon + 1) };
}
