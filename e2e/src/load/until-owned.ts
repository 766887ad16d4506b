import { Client } from 'pg';
import { expect, vi } from 'vitest';

/** Waits until the numbers of partitions that the living owners hold are as asked for. */
export async function untilOwned(databaseUrl: string, asked: (counts: number[]) => boolean): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const look = async () => {
    const { rows } = await client.query<{ count: number }>(
      'select count(*)::int from runtime.partitions where expires_at > now() and owner is not null group by owner',
    );
    const counts = rows.map(({ count }) => count);
    expect(asked(counts), `the partitions are held as ${JSON.stringify(counts)}`).toBe(true);
  };
  await vi.waitFor(look, { interval: 20 }).finally(() => client.end());
}

/** So many owners, each with its share of the 64 partitions. */
export const sharedBy =
  (owners: number) =>
  (counts: number[]): boolean =>
    counts.length === owners && counts.every((count) => count === 64 / owners);
