import type { ApiClient } from '../api/api-client.js';
import { readJournal } from '../load/read-journal.js';
import type { Story } from './tampered-world.js';

/** What anybody who may read the deployment could have seen of its history and its instances, without the times of rows. */
export async function seenOf(api: ApiClient, { path }: Pick<Story, 'path'>): Promise<string> {
  const { source } = (await api.get(path)).body.data;
  const journal = await readJournal(api, path);
  const withModel = await Promise.all(
    journal.filter(({ llmHash }) => llmHash !== null).map(({ id }) => api.get(`${path}/history/${id}`)),
  );
  const hashes = [...new Set(journal.flatMap(({ versionHash }) => versionHash ?? []))];
  const definitions = await Promise.all(hashes.map((hash) => api.get(`${path}/definitions/${hash}`)));
  const head = (await api.get(`${path}/head`)).body;
  const instances = (await api.get(`${path}/entity-instances?limit=100`)).body.data as Shown[];
  return JSON.stringify({
    source,
    journal,
    models: withModel.map(({ body }) => body.data?.llm ?? body.code),
    definitions: definitions.map(({ body }) => body.data ?? body.code),
    head: head.data?.checkpoint ?? head.code,
    instances: instances.map(({ entitySchema, instanceId, state, revision }) => [
      entitySchema,
      instanceId,
      state,
      revision,
    ]),
  });
}

interface Shown {
  readonly entitySchema: string;
  readonly instanceId: string;
  readonly state: object;
  readonly revision: number;
}
