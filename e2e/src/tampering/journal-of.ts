import type { HistoryEntry } from '@orrery/contracts';
import type { ApiClient } from '../api/api-client.js';

/** In order of seq. */
export async function journalOf(api: ApiClient, path: string): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  for (let after = ''; ; after = `&after=${entries.at(-1)?.seq}`) {
    const page = (await api.get(`${path}/history?include=all&limit=100${after}`)).body.data as HistoryEntry[];
    entries.push(...page);
    if (page.length < 100) return entries.reverse();
  }
}
