import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '@orrery/service-kit';
import type { Command } from 'commander';
import type { CommandContext } from './command-context.js';

/** A running server, and the key to use it with. */
export interface Server {
  readonly url: string;
  readonly key: string;
}

export interface ServerOptions {
  readonly url: string;
  readonly key?: string;
}

/** Adds the options that name a server. */
export const withServerOptions = (command: Command, { env }: CommandContext): Command =>
  command
    .option('--url <url>', 'address of the server', `http://127.0.0.1:${env.PORT || 3000}`)
    .option('--key <key>', 'an API key; by default that of the all-in-one in this folder');

/** @throws StartupError when no key is given and none is stored */
export async function serverOf({ url, key }: ServerOptions, { env }: CommandContext): Promise<Server> {
  return { url, key: key ?? (await storedKey(env.ORRERY_DATA_DIR || '.orrery')) };
}

async function storedKey(dataDirectory: string): Promise<string> {
  const file = join(dataDirectory, 'api-key');
  const text = await readFile(file, 'utf8').catch(() => {
    throw new StartupError(`There is no key in ${file}: run \`npm start\` here first, or pass --key.`);
  });
  return text.trim();
}

/** An answer in the envelope; a refusal has a code and a sentence. */
export interface ServerAnswer {
  readonly status: number;
  readonly data?: unknown;
  readonly pagination?: { readonly totalPages: number };
  readonly code?: string;
  readonly error?: string;
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** Sends a request below `/api`. @throws StartupError when no server answers there */
export async function askServer(
  { url, key }: Server,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: unknown,
): Promise<ServerAnswer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  try {
    const answer = await fetch(`${url}/api${path}`, init);
    return { ...((await answer.json()) as Omit<ServerAnswer, 'status'>), status: answer.status };
  } catch (error) {
    throw new StartupError(
      `No Orrery answers at ${url}: run \`npm start\` in another terminal first, or pass --url.`,
      { cause: error },
    );
  }
}

/** As `askServer`. @throws StartupError also for a refusal */
export async function askOrFail(...request: Parameters<typeof askServer>): Promise<ServerAnswer> {
  const answer = await askServer(...request);
  if (answer.status < 300) return answer;
  const [, method, path] = request;
  throw refusalOf(method, path, answer);
}

export const refusalOf = (
  method: string,
  path: string,
  { status, error }: { readonly status: number; readonly error?: string | undefined },
): StartupError => new StartupError(`${method} ${path} was refused (${status}): ${error}`);
