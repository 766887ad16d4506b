import { withClient } from '@orrery/testing/servers';
import { expect, vi } from 'vitest';

/** Waits until the numbers of partitions that the living owners hold are as asked for. */
export const untilOwned = (databaseUrl: string, asked: (counts: number[]) => boolean): Promise<void> =>
  withClient(databaseUrl, (client) =>
    vi.waitFor(
      async () => {
        const { rows } = await client.query<{ count: number }>(
          'select count(*)::int from runtime.partitions where expires_at > now() and owner is not null group by owner',
        );
        const counts = rows.map(({ count }) => count);
        expect(asked(counts), `the partitions are held as ${JSON.stringify(counts)}`).toBe(true);
      },
      { interval: 20 },
    ),
  );

/** So many owners, each with its share of the 64 partitions. */
export const sharedBy =
  (owners: number) =>
  (counts: number[]): boolean =>
    counts.length === owners && counts.every((count) => count === 64 / owners);
