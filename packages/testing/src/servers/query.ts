import { Client, type QueryResultRow } from 'pg';

/** Opens a connection of its own for some work. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  // A server that is killed breaks the connection; what was asked fails by itself then.
  client.on('error', () => undefined);
  await client.connect();
  return work(client).finally(() => client.end());
}

/** The rows of one statement. */
export const query = <Row extends QueryResultRow>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> => withClient(url, async (client) => (await client.query<Row>(text, [...values])).rows);
