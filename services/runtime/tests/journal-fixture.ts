import { randomUUID } from 'node:crypto';
import {
  DEFAULT_CONTENT_LIMITS,
  type DeploymentSource,
  type JsonObject,
  newAddress,
} from '@orrery/contracts';
import { connect, jsonb, migrate } from '@orrery/database';
import {
  type CheckedChanges,
  compileSchema,
  genesisHash,
  type InstanceState,
  type JournalEntryDraft,
  noChanges,
  sealEntry,
} from '@orrery/deciding';
import { createLogger, Resources } from '@orrery/service-kit';
import { createTestDatabase, PATIENT } from '@orrery/testing';
import { afterAll } from 'vitest';
import { decideManualWrite } from '../src/core/deciding/manual-write.js';
import { migrations } from '../src/store/tables/migrations/index.js';
import type { RuntimeSchema } from '../src/store/tables/schema.js';

/** A migrated database for one test file. */
export async function openRuntimeDatabase() {
  const resources = new Resources(PATIENT);
  afterAll(() => resources.release());
  const logger = createLogger({ service: 'test', level: 'error' });
  const { url } = resources.use('test database', await createTestDatabase());
  // What a test plants may be 100,000 rows in one statement.
  const bounds = { statementTimeoutMs: 240_000, maxWaitMs: 60_000 };
  const address = { url, schema: 'runtime', applicationName: 'test', logger };
  const database = await connect<RuntimeSchema>({ ...address, ...bounds });
  resources.add('connections', () => database.close());
  await migrate({ database, migrations, logger });
  return database.db;
}
export type TestDb = Awaited<ReturnType<typeof openRuntimeDatabase>>;

const horse = compileSchema({
  schemaId: 1,
  name: 'horse',
  hash: '0'.repeat(64),
  attributes: [{ name: 'wins', type: 'integer', constraints: null, defaultValue: 0 }],
});

type DraftParts = Partial<JournalEntryDraft> & { pushes?: JsonObject; llm?: JsonObject; v?: 1 | 2 };

/** Writes journals by the recipe alone, one row at a time, as a lane would in batches. */
export async function plantDeployment(db: TestDb, source: DeploymentSource | null = null) {
  const address = newAddress();
  const now = new Date();
  const { id } = await db
    .insertInto('deployments')
    .values({
      address,
      world_id: 1,
      world_address: newAddress(),
      owner_account_id: 7,
      name: 'Derby',
      mode: 'upgradable',
      is_public: false,
      owner_paused: false,
      operator_paused: false,
      account_paused: false,
      is_llm_public: false,
      source: source === null ? null : jsonb(source),
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const head = { seq: 0, hash: genesisHash({ deployment: address, source }) };
  const totals: Record<string, number> = {};
  const instances = new Map<string, InstanceState>();
  let rowId = 0;

  async function add(
    { pushes, llm, v = 2, ...parts }: DraftParts = {},
    { storesInstances = true } = {},
  ): Promise<number> {
    const draft: JournalEntryDraft = {
      deployment: address,
      id: randomUUID(),
      kind: 'execution',
      event: 'race',
      eventVersion: 1,
      versionHash: 'a'.repeat(64),
      trigger: 'admin',
      caller: 'account:7',
      status: 'succeeded',
      input: { lap: head.seq },
      changes: noChanges(),
      result: null,
      error: null,
      llmHash: null,
      attestation: null,
      paymentKey: null,
      decidedAt: new Date(1_800_000_000_000 + head.seq).toISOString(),
      evaluator: 1,
      ...parts,
    };
    const position = { v, at: draft.decidedAt, seq: head.seq + 1, prevHash: head.hash };
    const entry = sealEntry(draft, position);
    Object.assign(head, { seq: entry.seq, hash: entry.hash });
    count('entries');
    if (entry.kind === 'execution') count(`${entry.trigger}_${entry.status}`);
    await db
      .insertInto('journal')
      .values({
        deployment_id: id,
        seq: entry.seq,
        id: entry.id,
        v: entry.v,
        kind: entry.kind,
        event: entry.event,
        event_version: entry.eventVersion,
        version_hash: entry.versionHash,
        trigger: entry.trigger,
        caller: entry.caller,
        status: entry.status,
        input: jsonb(entry.input),
        changes: jsonb(entry.changes as never),
        result: entry.result === null ? null : jsonb(entry.result),
        error: entry.error === null ? null : jsonb(entry.error as JsonObject),
        llm_hash: entry.llmHash,
        attestation: null,
        payment_key: entry.paymentKey,
        executed_at: entry.executedAt,
        prev_hash: entry.prevHash,
        hash: entry.hash,
        llm: llm === undefined ? null : jsonb(llm),
        payment: null,
        pushes: pushes === undefined ? null : jsonb(pushes),
        duration_ms: 1.5,
        decided_at: entry.decidedAt ?? null,
        evaluator: entry.evaluator ?? null,
        recorded: draft.recorded === undefined ? null : jsonb(draft.recorded as JsonObject),
      })
      .execute();
    if (storesInstances) await storeInstances(draft.changes, entry.seq);
    await saveHead();
    return entry.seq;
  }

  const count = (counter: string) => {
    totals[counter] = (totals[counter] ?? 0) + 1;
  };

  const saveHead = () =>
    db
      .insertInto('journal_heads')
      .values({ deployment_id: id, seq: head.seq, hash: head.hash, totals: jsonb(totals) })
      .onConflict((conflict) =>
        conflict
          .column('deployment_id')
          .doUpdateSet({ seq: head.seq, hash: head.hash, totals: jsonb(totals) }),
      )
      .execute();

  async function storeInstances(changes: CheckedChanges, seq: number): Promise<void> {
    for (const change of changes) {
      const name = {
        deployment_id: id,
        entity_schema: change.entitySchema,
        instance_id: change.instanceId,
      };
      await db
        .insertInto('instance_changes')
        .values({ ...name, seq })
        .execute();
      if (change.op === 'delete' || [100, 200, 300].includes(change.revision)) {
        const state = change.state === null ? null : jsonb(change.state);
        await db
          .insertInto('kept_states')
          .values({ ...name, seq, revision: change.revision, state })
          .execute();
      }
      await db
        .deleteFrom('instances')
        .where('deployment_id', '=', id)
        .where('entity_schema', '=', name.entity_schema)
        .where('instance_id', '=', name.instance_id)
        .execute();
      instances.delete(change.instanceId);
      if (change.state === null) continue;
      instances.set(change.instanceId, { state: change.state, revision: change.revision });
      rowId += 1;
      const times = { created_at: now, updated_at: now };
      const row = { id: rowId, ...name, state: jsonb(change.state), revision: change.revision, ...times };
      await db.insertInto('instances').values(row).execute();
    }
  }

  /** Sets an instance's state in an execution, or deletes it; answers the entry's seq. */
  const write = (instanceId: string, state: JsonObject | null, parts: DraftParts = {}) =>
    add({
      changes: decideManualWrite(
        horse,
        instanceId,
        instances.get(instanceId) ?? null,
        state,
        DEFAULT_CONTENT_LIMITS,
      ),
      ...parts,
    });

  /** An instance that a clone began with. */
  async function begin(instanceId: string, state: JsonObject): Promise<void> {
    instances.set(instanceId, { state, revision: 1 });
    const name = { deployment_id: id, entity_schema: 'horse', instance_id: instanceId };
    await db
      .insertInto('kept_states')
      .values({ ...name, seq: 0, revision: 1, state: jsonb(state) })
      .execute();
    rowId += 1;
    const row = { id: rowId, ...name, state: jsonb(state), revision: 1, created_at: now, updated_at: now };
    await db.insertInto('instances').values(row).execute();
  }

  return { id, address, source, add, write, begin };
}
export type PlantedDeployment = Awaited<ReturnType<typeof plantDeployment>>;
