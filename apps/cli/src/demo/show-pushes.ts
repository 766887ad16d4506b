import { setTimeout } from 'node:timers/promises';
import { formatRows } from '../format-rows.js';
import { askOrFail } from '../server/ask-server.js';
import type { Server } from '../server/find-server.js';

/** How long pushes are waited for, and how often they are looked at, in milliseconds. */
const PATIENCE_MS = 60_000;
const INTERVAL_MS = 500;

interface Push {
  number: number;
  status: string;
  transaction: string | null;
  block: number | null;
}

/** Waits until the pushes of a deployment are on the chain, and shows where. */
export async function showPushes(server: Server, path: string, write: (line: string) => void): Promise<void> {
  let pushes: Push[] = [];
  const areThere = () =>
    pushes.length > 0 && pushes.every(({ status }) => status === 'confirmed' || status === 'finalized');
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until && !areThere(); ) {
    await setTimeout(INTERVAL_MS);
    pushes = (await askOrFail(server, 'GET', path)).data as Push[];
  }
  write(`\nThe pushes of the deployment (GET /api${path})`);
  write(formatRows(pushes, ['number', 'status', 'block', 'transaction']));
}
