import { StartupError } from '@orrery/service-kit';
import { formatRows } from '../format-rows.js';
import { racingSteps, type Step, tablePath } from './racing-steps.js';

export interface DemoOptions {
  readonly url: string;
  readonly key: string;
  readonly write: (line: string) => void;
}

type Names = Record<string, string>;
type Answer = { data: unknown };

/** Plays the racing walk-through against a running server and shows each step and the resulting table. */
export async function playDemo(options: DemoOptions): Promise<void> {
  const names: Names = {};
  for (const [index, step] of racingSteps.entries()) {
    options.write(`\n${index + 1}. ${step.says}`);
    const answer = await request(options, step.method, fill(step.path, names), step.body);
    if (step.names !== undefined) names[step.names] = (answer.data as { address: string }).address;
    options.write(`   ${shorten(JSON.stringify(answer.data))}`);
  }
  const horses = await request(options, 'GET', fill(tablePath, names));
  const rows = (horses.data as Horse[]).map(({ instanceId, state }) => ({ horse: instanceId, ...state }));
  options.write(`\n${formatRows(rows, ['horse', 'wins', 'speed', 'stamina'])}`);
}

interface Horse {
  instanceId: string;
  state: Record<string, unknown>;
}

const fill = (path: string, names: Names): string =>
  path.replace(/\{(\w+)\}/g, (_, name) => names[name] ?? '');
const shorten = (text: string): string => (text.length <= 150 ? text : `${text.slice(0, 149)}…`);

async function request(
  { url, key, write }: DemoOptions,
  method: Step['method'],
  path: string,
  body?: unknown,
): Promise<Answer> {
  write(`   ${method} /api${path}`);
  const init = { method, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } };
  const answer = await fetch(
    `${url}/api${path}`,
    body === undefined ? init : { ...init, body: JSON.stringify(body) },
  ).catch(() => {
    throw new StartupError(
      `No server answers at ${url}: run \`npm start\` in another terminal first, or pass --url.`,
    );
  });
  const parsed = (await answer.json()) as Answer & { error?: string };
  if (!answer.ok) throw new StartupError(`${method} ${path} was refused (${answer.status}): ${parsed.error}`);
  return parsed;
}
