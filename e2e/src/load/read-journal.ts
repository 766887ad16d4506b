import type { HistoryEntry } from '@orrery/contracts';
import type { ApiClient } from '../api/api-client.js';

/** The whole journal of a deployment, oldest first, read as a stranger would. */
export async function readJournal(api: ApiClient, deployment: string): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  for (let after = ''; ; after = `&after=${entries.at(-1)?.seq}`) {
    const page = await api.get(`${deployment}/history?include=all&limit=100${after}`);
    if (page.status !== 200) throw new Error(`no history: ${page.status} ${JSON.stringify(page.body)}`);
    entries.push(...page.body.data);
    if (page.body.data.length < 100) return entries.reverse();
  }
}
