import { canonicalJson, type HistoryEntry, type JsonValue } from '@orrery/contracts';
import type { ApiClient } from '../api/api-client.js';
import { readJournal } from '../load/read-journal.js';
import { verifyWhole } from '../load/verify-whole.js';
import type { ModelDeployment, ModelEntry } from './model.js';

/** Compares everything that can be read of a deployment with the model; throws at the first difference. */
export async function compareDeployment(api: ApiClient, path: string, model: ModelDeployment): Promise<void> {
  if (model.isDeleted) {
    same('a deleted deployment', (await api.get(path)).status, 404);
    return;
  }
  const journal = await readJournal(api, path);
  same('the journal', journal.map(shownEntry), model.entries.map(foretoldEntry));
  same('the instances', await instancesOf(api, path), instancesIn(model));
  for (const seq of [Math.ceil(journal.length / 2), journal.length])
    same(
      `the instances after entry ${seq}`,
      await instancesOf(api, path, `&atSeq=${seq}`),
      [...(model.entries[seq - 1]?.after ?? [])].sort(byText),
    );
  const { body } = await api.get(`${path}/event-bindings`);
  const bound = body.data.map(({ event, eventVersion }: Binding) => [event, eventVersion]);
  same('the bindings', bound.sort(byText), [...model.bindings].sort(byText));
  const history = await api.get(`${path}/history?limit=100`);
  const executions = model.entries.filter(({ kind }) => kind === 'execution').length;
  same('the total of the history', history.body.pagination.total, executions);
  const expected = { valid: true, entries: model.entries.length, firstDivergence: null };
  same('the verification', await verifyWhole(api, path), expected);
}

type Binding = { event: string; eventVersion: number };
const byText = (a: unknown, b: unknown): number => (String(a) < String(b) ? -1 : 1);

function same(what: string, found: unknown, foretold: unknown): void {
  const [shown, wanted] = [canonicalJson(found as JsonValue), canonicalJson(foretold as JsonValue)];
  if (shown !== wanted) throw new Error(`${what}\nforetold ${wanted}\nanswered ${shown}`);
}

const shownEntry = ({
  seq,
  kind,
  event,
  eventVersion,
  status,
  error,
  stateChanges,
  trigger,
}: HistoryEntry) => ({
  seq,
  kind,
  event,
  eventVersion,
  status,
  stateChanges,
  trigger,
  code: error?.code ?? null,
});

const foretoldEntry = ({ after: _, ...entry }: ModelEntry, index: number) => ({
  ...entry,
  seq: index + 1,
  trigger: entry.kind === 'execution' ? 'admin' : null,
});

async function instancesOf(api: ApiClient, path: string, at = ''): Promise<unknown> {
  const { body } = await api.get(`${path}/entity-instances?limit=100${at}`);
  const rows = body.data.map(({ entitySchema, instanceId, state, revision }: Row) => [
    `${entitySchema}:${instanceId}`,
    { state, revision },
  ]);
  return rows.sort(byText);
}

interface Row {
  entitySchema: string;
  instanceId: string;
  state: unknown;
  revision: number;
}

const instancesIn = ({ instances }: ModelDeployment): unknown => [...instances].sort(byText);
