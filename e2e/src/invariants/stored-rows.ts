import type {
  DeploymentSource,
  ExecutionStatus,
  HashedEntry,
  JsonObject,
  PaymentStatus,
} from '@orrery/contracts';
import { withClient } from '@orrery/testing/servers';
import type { Client } from 'pg';

export interface StoredDeployment {
  id: number;
  address: string;
  source: DeploymentSource | null;
  head: { seq: number; hash: string; totals: Record<string, number> };
}

export type StoredEntry = HashedEntry & { hash: string; status: ExecutionStatus | null };

export interface StoredState {
  entitySchema: string;
  instanceId: string;
  state: JsonObject;
  revision: number;
}

/** A payment, and how the entries of its key stand. */
export interface StoredPayment {
  key: string;
  status: PaymentStatus;
  succeeded: number;
  failed: number;
}

/** What PostgreSQL holds of the deployments, past everything that the service remembers or computes. */
export const withStoredRows = <T>(
  databaseUrl: string,
  read: (rows: ReturnType<typeof storedRows>) => Promise<T>,
): Promise<T> =>
  withClient(databaseUrl, async (client) => {
    // One snapshot, so that a system that still runs cannot show two moments at once.
    await client.query('begin isolation level repeatable read read only');
    return read(storedRows(client));
  });

const storedRows = (client: Client) => ({
  deployments: async (): Promise<StoredDeployment[]> => {
    const { rows } = await client.query(
      `select d.id::int, d.address, d.source, jsonb_build_object('seq', h.seq, 'hash', h.hash, 'totals', h.totals) as head
         from runtime.deployments d left join runtime.journal_heads h on h.deployment_id = d.id order by d.id`,
    );
    return rows;
  },
  entries: async (deployment: StoredDeployment): Promise<StoredEntry[]> => {
    const { rows } = await client.query(
      `select v, seq::int, id, kind, event, event_version as "eventVersion", version_hash as "versionHash", trigger,
              caller, status, input, changes, result, error, llm_hash as "llmHash", attestation,
              payment_key as "paymentKey", executed_at as "executedAt", prev_hash as "prevHash", hash,
              decided_at as "decidedAt", evaluator, recorded
         from runtime.journal where deployment_id = $1 order by seq`,
      [deployment.id],
    );
    return rows.map(({ decidedAt, evaluator, recorded, ...row }) => ({
      ...row,
      deployment: deployment.address,
      executedAt: row.executedAt.toISOString(),
      ...(decidedAt !== null && { decidedAt: decidedAt.toISOString() }),
      ...(evaluator !== null && { evaluator }),
      ...recorded,
    }));
  },
  payments: async ({ id }: StoredDeployment): Promise<StoredPayment[]> => {
    const count = (status: ExecutionStatus) =>
      `(select count(*)::int from runtime.journal j where j.payment_key = p.key and j.status = '${status}') as ${status}`;
    const { rows } = await client.query(
      `select p.key, p.status, ${count('succeeded')}, ${count('failed')}
         from runtime.payments p where p.deployment_id = $1 order by p.number`,
      [id],
    );
    return rows;
  },
  timers: async ({ id }: StoredDeployment): Promise<string[]> => {
    const { rows } = await client.query('select id from runtime.timers where deployment_id = $1', [id]);
    return rows.map((row) => row.id);
  },
  /** What a clone began with. */
  origin: (deployment: StoredDeployment): Promise<StoredState[]> =>
    states(client, 'runtime.kept_states where deployment_id = $1 and seq = 0', deployment),
  instances: (deployment: StoredDeployment): Promise<StoredState[]> =>
    states(client, 'runtime.instances where deployment_id = $1', deployment),
});

async function states(client: Client, where: string, { id }: StoredDeployment): Promise<StoredState[]> {
  const { rows } = await client.query(
    `select entity_schema as "entitySchema", instance_id as "instanceId", state, revision from ${where}`,
    [id],
  );
  return rows;
}
