import { ServiceError } from '@orrery/contracts';
import { createLogger, type Logger, systemClock } from '@orrery/service-kit';
import { FakeClock } from '@orrery/testing';
import { expect, it, vi } from 'vitest';
import { databaseThat } from '../../store/tables/database-double.test-support.js';
import type { DirectorySchema } from '../../store/tables/directory.js';
import { createBudgets } from './budgets.js';

const payer = {
  executionId: '01900000-0000-7000-8000-000000000001',
  deploymentId: 1,
  accountId: 1,
  event: 'judge',
  dailyBudgetUsd: null,
  deadline: Number.MAX_SAFE_INTEGER,
};
const never = new AbortController().signal;
/** One database: its directory is never asked. */
const homes = { isOnly: () => true, directory: databaseThat<DirectorySchema>(() => undefined) };
const cost = { inputTokens: 1, outputTokens: 1, usd: 0.5 };

it('a cost is counted once the database is there again, and nobody waits for it', async () => {
  let isAway = true;
  const stored: string[] = [];
  const db = databaseThat((statement) => {
    if (!statement.includes('into ai_usage')) return;
    if (isAway) throw new ServiceError('unavailable', 'The database is away.');
    stored.push(statement);
  });
  const logger = createLogger({ service: 'test', level: 'fatal' });
  const budgets = createBudgets({ homes, db, clock: systemClock, logger });
  const reservation = await budgets.of(payer).reserve(cost, never);
  await reservation.settle(cost);
  expect(stored).toEqual([]);
  isAway = false;
  await vi.waitFor(() => expect(stored).toHaveLength(1));
  await budgets.stop();
});

it('a cost that cannot be counted is logged', async () => {
  const db = databaseThat((statement) => {
    if (statement.includes('into ai_usage')) throw new Error('no such table');
  });
  const warn = vi.fn();
  const budgets = createBudgets({ homes, db, clock: systemClock, logger: { warn } as unknown as Logger });
  await (await budgets.of(payer).reserve(cost, never)).settle(cost);
  await vi.waitFor(() => expect(warn).toHaveBeenCalledTimes(1));
  await budgets.stop();
});

it('a reservation waits for a database that is away, as long as its request may take', async () => {
  let isAway = true;
  const db = databaseThat(() => {
    if (isAway) throw Object.assign(new Error('no server'), { code: 'ECONNREFUSED', syscall: 'connect' });
  });
  const clock = new FakeClock();
  const logger = createLogger({ service: 'test', level: 'fatal' });
  const budgets = createBudgets({ homes, db, clock, logger });
  const leaving = new AbortController();
  const given = budgets.of(payer).reserve(cost, leaving.signal);
  const waiting = budgets.of(payer).reserve(cost, never);
  await vi.waitFor(() => expect(clock.sleeping).toBe(2));
  leaving.abort(new Error('gone'));
  await expect(given).rejects.toThrow('gone');
  isAway = false;
  await clock.advance(5000);
  await (await waiting).settle(cost);
  await budgets.stop();
});
