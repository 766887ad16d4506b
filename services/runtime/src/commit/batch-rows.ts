import type { Batch, TouchedInstance } from '../state/batch.js';
import { changeRows, headRows, stateRow } from './always-rows.js';
import { entryRows } from './entry-rows.js';
import { jsonRows, rowArray } from './row-text.js';

/** The parameters of the commit statement: rows as arrays of types, and what few batches have last, mostly as JSON. */
export function batchRows(batch: Batch, instance: string): string[] {
  const { updated, created, removed } = instanceRows(batch);
  return [
    instance,
    JSON.stringify([...batch.leases.values()]),
    ...entryRows(batch),
    headRows(batch),
    rowArray(updated),
    changeRows(batch),
    rowArray(created),
    ...[removed, keptRows(batch), batch.claims, keyRows(batch)].map(jsonRows),
  ];
}

/** Each touched instance once, as the last item left it. */
function instanceRows({ touched }: Batch) {
  const rows = { updated: [] as string[], created: [] as string[], removed: [] as object[] };
  for (const one of touched.values()) {
    const now = one.state.instances.get(one.entitySchema, one.instanceId) ?? null;
    if (now !== null) (one.existedBefore ? rows.updated : rows.created).push(stateRow(one, now));
    else if (one.existedBefore) rows.removed.push(nameOf(one));
  }
  return rows;
}

const nameOf = ({ state, entitySchema, instanceId }: TouchedInstance) => ({
  deployment_id: state.id,
  entity_schema: entitySchema,
  instance_id: instanceId,
});

const keptRows = ({ kept }: Batch) =>
  kept.map(({ deploymentId: d, entitySchema: s, instanceId: i, seq, revision: r, state }) => ({
    d,
    s,
    i,
    seq,
    r,
    state,
  }));

const keyRows = ({ keys }: Batch) =>
  keys.map(({ accountId: a, operation: o, key: k, requestHash: h, reply, at }) => ({
    a,
    o,
    k,
    h,
    reply,
    at,
  }));
