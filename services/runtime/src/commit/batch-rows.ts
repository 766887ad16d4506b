import type { Batch, TouchedInstance } from '../lanes/batch.js';
import type { MemoryInstance } from '../lanes/instance-memory.js';

/** The parameters of the commit statement, each a JSON array of rows. */
export function batchRows(batch: Batch, instance: string): string[] {
  const { updated, created, removed } = instanceRows(batch);
  return [
    instance,
    ...[
      [...batch.leases.values()],
      entryRows(batch),
      headRows(batch),
      updated,
      created,
      removed,
      changeRows(batch),
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
    ].map((rows) => (rows.length === 0 ? '[]' : JSON.stringify(rows))),
  ];
}

const entryRows = ({ entries }: Batch) =>
  entries.map(({ deploymentId, entry, effects: { llm, pushes, durationMs } }) => ({
    ...entry,
    d: deploymentId,
    llm: llm ?? null,
    pushes: pushes ?? null,
    ms: durationMs ?? null,
  }));

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

function rowOf(touched: TouchedInstance, now: MemoryInstance) {
  const row = { ...nameOf(touched), state: now.state, r: now.revision, u: now.updatedAt };
  const isNew = !touched.existedBefore || touched.recreated;
  return isNew ? { ...row, id: now.id, c: now.createdAt } : row;
}
