import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { StartupError } from '@orrery/service-kit';
import type { Command } from 'commander';
import type { CommandContext } from '../terminal/context.js';

/** A running server, and the key to use it with. */
export interface Server {
  readonly url: string;
  /** Empty where none is needed. */
  readonly key: string;
  /** Where the key was found: an option, a variable or a file. */
  readonly keyFrom?: string;
}

export interface ServerOptions {
  readonly url?: string;
  readonly key?: string;
}

/** Adds the options that name a server. */
export const withServerOptions = (command: Command): Command =>
  command
    .option('--url <url>', 'address of the server (ORRERY_URL); by default the all-in-one of this folder')
    .option('--key <key>', 'an API key (ORRERY_KEY); by default that of the all-in-one of this folder');

/** @throws StartupError when no key is given and none is stored */
export async function serverOf(options: ServerOptions, context: CommandContext): Promise<Server> {
  const url = await urlOf(options, context);
  if (options.key !== undefined) return { url, key: options.key, keyFrom: '--key' };
  const { ORRERY_KEY } = context.env;
  if (ORRERY_KEY) return { url, key: ORRERY_KEY, keyFrom: 'the variable ORRERY_KEY' };
  const keyFrom = `the file ${resolve(folderOf(context.env), 'api-key')}`;
  return { url, key: await storedKey(url, context), keyFrom };
}

/** The address of the server that is meant, without a slash at its end. @throws StartupError when it is none */
export async function urlOf({ url }: ServerOptions, { env }: CommandContext): Promise<string> {
  const chosen = url ?? (env.ORRERY_URL || (await stored(env, 'url')) || defaultUrl(env));
  if (!/^https?:\/\/[^/]/.test(chosen))
    throw new StartupError(`${chosen} is no address of a server: http://127.0.0.1:3000 is one.`);
  return chosen.replace(/\/+$/, '');
}

const defaultUrl = ({ PORT }: CommandContext['env']): string => `http://127.0.0.1:${PORT || 3000}`;

const folderOf = ({ ORRERY_DATA_DIR }: CommandContext['env']): string => ORRERY_DATA_DIR || '.orrery';

/** What the all-in-one has stored in its folder; empty where it never ran. */
async function stored(env: CommandContext['env'], name: 'url' | 'api-key'): Promise<string> {
  return (await readFile(join(folderOf(env), name), 'utf8').catch(() => '')).trim();
}

/** The stored key is a secret of this machine: it is sent to no other. */
async function storedKey(url: string, { env }: CommandContext): Promise<string> {
  if (url !== (await stored(env, 'url')) && !isLoopback(url))
    throw new StartupError(`The key in ${folderOf(env)} is not for ${url}: pass --key or set ORRERY_KEY.`);
  const key = await stored(env, 'api-key');
  if (key !== '') return key;
  throw new StartupError(
    `There is no key in ${join(folderOf(env), 'api-key')}: run \`npm start\` here first, pass --key or set ORRERY_KEY.`,
  );
}

const isLoopback = (url: string): boolean =>
  /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(new URL(url).hostname);

const NAMES = ['url', 'key'] as const;

/** Lets the options that name a server also stand before the command, and before its last word. */
export function takeServerOptionsEarly(program: Command): void {
  for (const group of groupsOf(program)) withServerOptions(group).enablePositionalOptions();
  program.hook('preAction', (_, command) => {
    for (const name of NAMES) give(command, name);
  });
}

const groupsOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [] : [command, ...command.commands.flatMap(groupsOf)];

/** The option nearest to the command counts. @throws StartupError where the command asks no server */
function give(command: Command, name: (typeof NAMES)[number]): void {
  const value: unknown = ancestorsOf(command)
    .map((above) => above.opts()[name])
    .find((one) => one !== undefined);
  if (value === undefined) return;
  const words = [...ancestorsOf(command).reverse(), command].map((one) => one.name()).join(' ');
  if (!command.options.some((option) => option.attributeName() === name))
    throw new StartupError(
      `\`${words}\` takes no --${name}: leave it out. \`${words} --help\` shows what it takes.`,
    );
  if (command.opts()[name] === undefined) command.setOptionValueWithSource(name, value, 'cli');
}

/** From the nearest to the program. */
const ancestorsOf = ({ parent }: Command): Command[] =>
  parent === null ? [] : [parent, ...ancestorsOf(parent)];
