import { describe, expect, it } from 'vitest';
import { systemClock, timestampOf } from './clock.js';

describe('timestampOf', () => {
  it('gives each time its own text, whatever came before', () => {
    const times = [0, 1, 1, 0, 1_700_000_000_123, 1_700_000_000_124, 1_700_000_000_123];
    expect(times.map(timestampOf)).toEqual(times.map((ms) => new Date(ms).toISOString()));
  });
});

describe('the clock of the system', () => {
  it('waits longer than a timer of Node.js can', async () => {
    const stopped = new AbortController();
    const long = systemClock.sleep(40 * 24 * 60 * 60 * 1000, stopped.signal).then(
      () => 'ended',
      () => 'stopped',
    );
    expect(await Promise.race([long, systemClock.sleep(50).then(() => 'waits')])).toBe('waits');
    stopped.abort();
    expect(await long).toBe('stopped');
  });
});
