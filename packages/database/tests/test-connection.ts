import { type ConnectOptions, connect, type Database } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { sql } from 'kysely';
import { onTestFinished } from 'vitest';

export const quiet = createLogger({ service: 'test', level: 'silent' });

/** A new database with the service's schema `rooms` in it. */
export async function newDatabaseUrl(): Promise<string> {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  return database.url;
}

export async function open<Schema>(
  url: string,
  limits: Partial<ConnectOptions> = {},
): Promise<Database<Schema>> {
  const database = await connect<Schema>({
    url,
    schema: 'rooms',
    applicationName: 'test',
    logger: quiet,
    ...limits,
  });
  onTestFinished(() => database.close());
  return database;
}

/** A connection to a new database whose schema holds the table `items`. */
export async function openItems(limits: Partial<ConnectOptions> = {}): Promise<Database<Items>> {
  const database = await open<Items>(await newDatabaseUrl(), limits);
  await sql`create schema rooms`.execute(database.db);
  await sql`create table items (id bigint primary key, tags jsonb, at timestamptz)`.execute(database.db);
  return database;
}

export interface Items {
  items: { id: number; tags: unknown; at: Date | null };
}

/** Ends a server process as an operator or a crash would. */
export async function terminate(database: Database<Items>, backend: number): Promise<void> {
  await sql`select pg_terminate_backend(${backend}, 5000)`.execute(database.db);
}
