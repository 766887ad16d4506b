import { hash } from 'node:crypto';

const HOUR_MS = 3_600_000;

const hourOf = (at: string): number => Math.floor(Date.parse(at) / HOUR_MS);
const timeOf = (hour: number): string => new Date(hour * HOUR_MS).toISOString();

/** The start of the hour (UTC) in which something happened. */
export const startOfHour = (at: string): string => timeOf(hourOf(at));

/** The end of that hour: its head covers all that happened before. */
export const endOfHour = (at: string): string => timeOf(hourOf(at) + 1);

/**
 * The id of a deployment's head of an hour, by which retries and skips name its push. A UUID of version 8, made of both, so
 * that rows which are made again have the same.
 */
export function headId(deployment: string, before: string): string {
  const digits = hash('sha256', `${deployment} ${before}`, 'hex');
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `8${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-');
}
