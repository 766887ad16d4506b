import type { Verification } from '@orrery/contracts';
import type { ApiClient } from '../api/api-client.js';

/** What a verification has found, and how many entries its calls have read. */
export type Verified = Pick<Verification, 'valid' | 'entries' | 'firstDivergence'>;

/** Verifies a deployment to its end, or to the first divergence: a call ends before its deadline and names the `next` to begin at. */
export async function verifyWhole(api: ApiClient, deployment: string): Promise<Verified> {
  let entries = 0;
  for (let from = 1; ; ) {
    const { status, body } = await api.get(`${deployment}/history/verify?from=${from}`);
    if (status !== 200) throw new Error(`not verified: ${status} ${JSON.stringify(body)}`);
    const { valid, firstDivergence, next, entries: read }: Verification = body.data;
    entries += read;
    if (!valid || next === null) return { valid, entries, firstDivergence };
    from = next;
  }
}
