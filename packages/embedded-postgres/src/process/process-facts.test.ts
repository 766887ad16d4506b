import { spawnSync } from 'node:child_process';
import { expect, it, vi } from 'vitest';
import { startedByPs } from './process-facts.js';

it.runIf(spawnSync('ps').error === undefined)(
  'a process started at the same time in every zone',
  async () => {
    const starts = [];
    for (const zone of ['UTC', 'Asia/Tokyo', 'America/New_York']) {
      vi.stubEnv('TZ', zone);
      starts.push(await startedByPs(process.pid));
    }
    vi.unstubAllEnvs();
    expect(starts[0]).toMatch(/^\w+_\w+_\d+_\d\d:\d\d:\d\d_\d{4}$/);
    expect(new Set(starts).size).toBe(1);
  },
);
