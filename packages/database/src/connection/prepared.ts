import { CompiledQuery } from 'kysely';

/** The names of prepared statements, by text. */
const names = new Map<string, string>();

export type PreparedStatement<Row> = (
  // Runs on any connection of the schema, in a transaction or outside.
  db: { executeQuery<R>(query: CompiledQuery<R>): Promise<{ rows: R[] }> },
  values: readonly unknown[],
) => Promise<Row[]>;

/**
 * A statement that each connection parses once and, after a few executions, plans once. Its plan has to be right for
 * all values: use it for look-ups by key. `name` is unique in the program.
 */
export function prepared<Row>(name: string, text: string): PreparedStatement<Row> {
  names.set(text, name);
  return async (db, values) =>
    (await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]) as CompiledQuery<Row>)).rows;
}

/** What the driver is given for a statement: with its name, if it is a prepared one. */
export function queryOf(text: string, values: readonly unknown[]) {
  const name = names.get(text);
  return { text, values: [...values], ...(name !== undefined && { name }) };
}
