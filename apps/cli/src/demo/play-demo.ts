import { askOrFail, askServer, Refusal } from '../server/ask-server.js';
import type { Server } from '../server/find-server.js';
import { formatRows } from '../terminal/format-rows.js';
import { poll } from '../terminal/poll.js';
import { pushesPath, type Step, tablePath } from './racing-steps.js';

export interface DemoOptions {
  readonly server: Server;
  readonly steps: readonly Step[];
  /** The deployment is pushed to a chain: show where. */
  readonly withPushes?: boolean;
  readonly write: (line: string) => void;
}

/** Plays a walk-through against a running server and shows each step and the resulting table. */
export async function playDemo({ server, steps, withPushes = false, write }: DemoOptions): Promise<void> {
  const names: Record<string, string> = {};
  for (const [index, { says, method, path, body, names: name, mayFail, shown }] of steps.entries()) {
    const target = fill(path, names);
    write(`\n${index + 1}. ${says}\n   ${method} /api${target}`);
    const answer = await askServer(server, method, target, body);
    const { status, data, code, error } = answer;
    if (status >= 300 && mayFail?.includes(code ?? '') !== true)
      throw new Refusal(server, { method, path: `/api${target}` }, answer);
    if (name !== undefined) names[name] = (data as { address: string }).address;
    write(
      `   ${status < 300 ? shorten(JSON.stringify(shown === undefined ? data : shown(data as never))) : `refused, nothing changed (${code}): ${error}`}`,
    );
  }
  if (withPushes) await showPushes(server, fill(pushesPath, names), write);
  const horses = await askOrFail(server, 'GET', fill(tablePath, names));
  const rows = (horses.data as Horse[]).map(({ instanceId, state }) => ({ horse: instanceId, ...state }));
  write(`\n${formatRows(rows, ['horse', 'wins', 'speed', 'stamina'])}`);
}

interface Horse {
  instanceId: string;
  state: Record<string, unknown>;
}

const fill = (path: string, names: Readonly<Record<string, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name) => names[name] ?? '');
const shorten = (text: string): string => (text.length <= 150 ? text : `${text.slice(0, 149)}…`);

/** How long pushes are waited for. */
const WAITING = { forMs: 60_000, everyMs: 500 };

interface Push {
  number: number;
  status: string;
  transaction: string | null;
  block: number | null;
}

/** Waits until the pushes of a deployment are on the chain, and shows where. */
async function showPushes(server: Server, path: string, write: (line: string) => void): Promise<void> {
  const ask = async () => (await askOrFail(server, 'GET', path)).data as Push[];
  const areThere = (all: Push[]) =>
    all.length > 0 && all.every(({ status }) => status === 'confirmed' || status === 'finalized');
  const pushes = await poll(ask, areThere, WAITING);
  write(`\nThe pushes of the deployment (GET /api${path})`);
  write(formatRows(pushes, ['number', 'status', 'block', 'transaction']));
}
