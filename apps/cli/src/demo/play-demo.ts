import { formatRows } from '../format-rows.js';
import { askOrFail, askServer } from '../server/ask-server.js';
import type { Server } from '../server/find-server.js';
import { Refusal } from '../server/refusal.js';
import { pushesPath, type Step, tablePath } from './racing-steps.js';
import { showPushes } from './show-pushes.js';

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
