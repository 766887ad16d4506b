import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  databaseUrl,
  flag,
  natsUrl,
  port,
  readEnvironment,
  readTogether,
  redisUrl,
  StartupError,
  wholeNumber,
} from './environment.js';

const schema = z.object({
  DATABASE_URL: databaseUrl,
  NATS_URL: natsUrl.optional(),
  PORT: port.default(3000),
  API_SECRET: z.string().min(32).describe('a secret of 32 characters'),
  VERBOSE: flag.default(false),
});
const valid = { DATABASE_URL: 'postgres://orrery@db:5432/orrery', API_SECRET: 's'.repeat(32) };

function messageOf(env: Record<string, string | undefined>): string {
  try {
    readEnvironment(schema, env);
  } catch (error) {
    expect(error).toBeInstanceOf(StartupError);
    return (error as Error).message;
  }
  throw new Error('accepted');
}

describe('readEnvironment', () => {
  it('converts what is there and fills in defaults', () => {
    const read = readEnvironment(schema, { ...valid, PORT: '8080', VERBOSE: 'yes', PATH: '/bin' });
    expect(read).toEqual({ ...valid, PORT: 8080, VERBOSE: true });
  });

  it('takes an empty string for absent', () => {
    expect(readEnvironment(schema, { ...valid, PORT: '', NATS_URL: '' })).toEqual({
      ...valid,
      PORT: 3000,
      VERBOSE: false,
    });
  });

  it('names all problems at once, in one line, with what is expected', () => {
    const message = messageOf({ PORT: '99999', API_SECRET: 'x' });
    expect(message).toContain('DATABASE_URL (missing; expected a PostgreSQL address');
    expect(message).toContain('PORT (not valid; expected a port number from 0 to 65535)');
    expect(message).toContain('API_SECRET (not valid; expected a secret of 32 characters)');
    expect(message).not.toContain('\n');
  });

  it('never prints a value', () => {
    const message = messageOf({
      DATABASE_URL: 'mysql://u:hunter2@h/d',
      API_SECRET: 'tooshort',
      PORT: 'hunter3',
    });
    expect(message).not.toMatch(/hunter|tooshort/);
  });
});

describe('readTogether', () => {
  const database = z.object({ DATABASE_URL: databaseUrl });
  const door = z.object({ PORT: port });

  it('gives what each reader read under its name', () => {
    const env = { ...valid, PORT: '1' };
    const read = readTogether({
      database: () => readEnvironment(database, env),
      door: () => readEnvironment(door, env),
    });
    expect(read).toEqual({ database: { DATABASE_URL: valid.DATABASE_URL }, door: { PORT: 1 } });
  });

  it('names the problems of all readers at once, each once', () => {
    const env = { PORT: 'x' };
    const read = () =>
      readTogether({
        database: () => readEnvironment(database, env),
        door: () => readEnvironment(door, env),
        again: () => readEnvironment(door, env),
        file: () => {
          throw new StartupError('a file cannot be read');
        },
      });
    expect(read).toThrow(
      /^Correct these environment variables and start again: DATABASE_URL \(missing; [^;]*\); PORT \(not valid; [^;]*\)$/,
    );
  });

  it("throws a reader's own error when no variable is wrong", () => {
    const failing = () => {
      throw new StartupError('a file cannot be read');
    };
    expect(() => readTogether({ failing })).toThrow('a file cannot be read');
  });
});

describe('variables', () => {
  it.each([
    [databaseUrl, 'postgresql:///orrery?host=/run/pg'],
    [databaseUrl, 'postgres://orrery@/orrery?host=/run/one,/run/two'],
    [databaseUrl, 'postgres://u:p@one:5432,two:5432/orrery?target_session_attrs=read-write'],
    [natsUrl, 'nats://a:4222, nats://b:4222'],
    [redisUrl, 'rediss://cache'],
  ])('accepts %#', (variable, text) => {
    expect(variable.safeParse(text).success).toBe(true);
  });

  it.each([
    [databaseUrl, 'postgres:/orrery'],
    [databaseUrl, 'postgres://u@one,,two/orrery'],
    [natsUrl, 'nats://a:4222,http://b'],
    [natsUrl, 'nats://a:4222,tls://b'],
    [natsUrl, 'wss://a:443'],
    [redisUrl, 'localhost:6379'],
    [port, '1e3'],
    [port, '-1'],
    [wholeNumber({ min: 1, max: 5 }), '6'],
  ])('refuses %#', (variable, text) => {
    expect(variable.safeParse(text).success).toBe(false);
  });
});
