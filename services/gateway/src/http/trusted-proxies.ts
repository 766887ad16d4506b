import type { HttpLimits } from './create-http.js';

/** `TRUST_PROXY`: `true`, `false`, a number of hops, or addresses and networks separated by commas. */
export function trustedProxies(text: string): HttpLimits['trustProxy'] {
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (!/^\d{1,2}$/.test(text)) return text;
  const hops = Number(text);
  return (_address, hop) => hop < hops;
}
