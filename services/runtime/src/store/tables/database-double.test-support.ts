import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { RuntimeSchema } from './schema.js';

/** Answers a statement with rows, or by throwing; without rows there are none. */
type Answer = (statement: string, values: readonly unknown[]) => readonly object[] | undefined;

/** A database that answers each statement as `answer` does, for tests of what asks it. */
export function databaseThat<Schema = RuntimeSchema>(answer: Answer): Kysely<Schema> {
  const connection = {
    executeQuery: async ({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) => ({
      rows: answer(sql, parameters) ?? [],
    }),
    streamQuery: () => {
      throw new Error('not used');
    },
  };
  class Driver extends DummyDriver {
    override async acquireConnection() {
      return connection as never;
    }
  }
  return new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new Driver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}
