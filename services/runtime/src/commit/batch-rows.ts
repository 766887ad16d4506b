import type { Batch, TouchedInstance } from '../lanes/batch.js';
import type { MemoryInstance } from '../lanes/instance-memory.js';
import { entryRows } from './entry-rows.js';

export const NO_ROWS = '[]';

/** The parameters of the commit statement. After the entries each is a JSON array of rows; what few batches have is last. */
export function batchRows(batch: Batch, instance: string): string[] {
  const { updated, created, removed } = instanceRows(batch);
  return [
    instance,
    JSON.stringify([...batch.leases.values()]),
    ...entryRows(batch),
    ...[
      headRows(batch),
      updated,
      changeRows(batch),
      created,
      removed,
      batch.kept.map(({ deploymentId: d, entitySchema: s, instanceId: i, seq, revision: r, state }) => ({
        d,
        s,
        i,
        seq,
        r,
        state,
      })),
      batch.claims,
      batch.keys.map(({ accountId: a, operation: o, key: k, requestHash: h, reply, at }) => ({
        a,
        o,
        k,
        h,
        reply,
        at,
      })),
    ].map((rows) => (rows.length === 0 ? NO_ROWS : JSON.stringify(rows))),
  ];
}

const headRows = ({ deployments }: Batch) =>
  [...deployments.values()].map(({ id, head }) => ({
    d: id,
    seq: head.seq,
    hash: head.hash,
    totals: head.totals,
  }));

function changeRows({ entries }: Batch) {
  return entries.flatMap(({ deploymentId, entry: { changes, seq } }) =>
    changes.map(({ entitySchema, instanceId }) => ({ d: deploymentId, s: entitySchema, i: instanceId, seq })),
  );
}

/** Each touched instance once, as the last item left it. */
function instanceRows({ touched }: Batch) {
  const rows = { updated: [] as object[], created: [] as object[], removed: [] as object[] };
  for (const one of touched.values()) {
    const now = one.state.instances.get(one.entitySchema, one.instanceId) ?? null;
    if (now !== null) (one.existedBefore ? rows.updated : rows.created).push(rowOf(one, now));
    else if (one.existedBefore) rows.removed.push(nameOf(one));
  }
  return rows;
}

const nameOf = ({ state, entitySchema, instanceId }: TouchedInstance) => ({
  d: state.id,
  s: entitySchema,
  i: instanceId,
});

/** Without `id` and `c` the row keeps its own. */
function rowOf(
  { state, entitySchema, instanceId, existedBefore, recreated }: TouchedInstance,
  now: MemoryInstance,
) {
  const isNew = !existedBefore || recreated;
  return {
    d: state.id,
    s: entitySchema,
    i: instanceId,
    state: now.state,
    r: now.revision,
    u: now.updatedAt,
    id: isNew ? now.id : undefined,
    c: isNew ? now.createdAt : undefined,
  };
}
