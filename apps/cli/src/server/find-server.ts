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

/** @throws StartupError when no key is given and none is stored, or it is none that may be sent there */
export async function serverOf(options: ServerOptions, context: CommandContext): Promise<Server> {
  const url = await urlOf(options, context);
  const { env } = context;
  const given = options.key ?? (env.ORRERY_KEY || undefined);
  if (given === undefined) {
    const keyFrom = `the file ${resolve(folderOf(env), 'api-key')}`;
    return checked({ url, key: await storedKey(url, context), keyFrom });
  }
  const keyFrom = options.key === undefined ? 'the variable ORRERY_KEY' : '--key';
  refuseStrange(url, options, env, `The key of ${keyFrom} is not sent`);
  return checked({ url, key: given, keyFrom });
}

/** The address of a server for which a wallet signs or pays. @throws StartupError where it is none that may be meant */
export async function urlForWallet(options: ServerOptions, context: CommandContext): Promise<string> {
  const url = await urlOf(options, context);
  refuseStrange(url, options, context.env, 'Nothing that a wallet signs is sent');
  return url;
}

/** A folder that came from elsewhere may name any address. */
function refuseStrange(
  url: string,
  options: ServerOptions,
  env: CommandContext['env'],
  refusal: string,
): void {
  if (options.url !== undefined || env.ORRERY_URL || isThisMachine(url)) return;
  throw new StartupError(
    `${refusal} to ${url}, which ${join(folderOf(env), 'url')} alone names: pass --url or set ORRERY_URL.`,
  );
}

/** @throws StartupError for a key that no header can hold */
function checked(server: Server & Required<Pick<Server, 'keyFrom'>>): Server {
  if (/^[\x20-\x7e]*$/.test(server.key)) return server;
  throw new StartupError(`The key of ${server.keyFrom} has characters that no key has: copy it anew.`);
}

/** The address of the server that is meant, without a slash at its end. @throws StartupError when it is none */
export async function urlOf({ url }: ServerOptions, { env }: CommandContext): Promise<string> {
  const chosen = url ?? (env.ORRERY_URL || (await stored(env, 'url')) || defaultUrl(env));
  if (!/^https?:\/\/[^/@]+(\/[^@]*)?$/.test(chosen) || !URL.canParse(chosen))
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
  if (url !== (await stored(env, 'url')) && !isThisMachine(url))
    throw new StartupError(`The key in ${folderOf(env)} is not for ${url}: pass --key or set ORRERY_KEY.`);
  const key = await stored(env, 'api-key');
  if (key !== '') return key;
  throw new StartupError(
    `There is no key in ${join(folderOf(env), 'api-key')}: run \`npm start\` here first, pass --key or set ORRERY_KEY.`,
  );
}

/** A server that listens everywhere stores such an address too. */
export const isThisMachine = (url: string): boolean =>
  /^(127\.\d+\.\d+\.\d+|0\.0\.0\.0|localhost|\[::1?\])$/.test(new URL(url).hostname);

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
