import { MAX_LIMIT, toNfc } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { allPages, askAt } from '../server/ask-server.js';
import type { Server } from '../server/find-server.js';
import { Refusal } from '../server/refusal.js';

/** A world or a deployment as lists show it. */
export interface Named {
  readonly address: string;
  readonly name: string;
}

/** The path parameters that name a deployment. */
export interface DeploymentReference {
  readonly worldAddress: string;
  readonly address: string;
}

/** An id or an address. */
export const isReference = (text: string): boolean => /^(\d+|0x[0-9a-f]{40})$/i.test(text);

/** All things of a list. */
export async function listAll<T>(server: Server, path: string): Promise<T[]> {
  const sign = path.includes('?') ? '&' : '?';
  const { data } = await allPages((which) => {
    const query = new URLSearchParams({ limit: String(MAX_LIMIT), ...which });
    return askAt(server, 'GET', `${path}${sign}${query}`);
  });
  return data as T[];
}

export const ownWorlds = (server: Server): Promise<Named[]> => listAll(server, '/worlds?owner=me');

/** A world by its id, its address, or the name of one of yours. @throws StartupError for no or several of that name */
export async function findWorld(server: Server, text: string): Promise<string> {
  return isReference(text) ? text : worldNamed(await ownWorlds(server), text);
}

/** One of your worlds by its name alone, as files say it: that may be in digits. @throws StartupError for no or several */
export const worldNamed = (worlds: readonly Named[], name: string): string =>
  onlyOne(worlds, name, 'None of your worlds is named');

/**
 * A deployment as `WORLD/DEPLOYMENT`, each by its id, its address or its name, or by itself: then it is searched in your
 * worlds. @throws StartupError for no or several of that name
 */
export async function findDeployment(server: Server, text: string): Promise<DeploymentReference> {
  const at = text.indexOf('/');
  if (at < 0) return searchDeployment(server, text);
  const worldAddress = await findWorld(server, text.slice(0, at));
  const name = text.slice(at + 1);
  if (isReference(name)) return { worldAddress, address: name };
  const deployments = await deploymentsOf(server, worldAddress);
  return { worldAddress, address: onlyOne(deployments, name, 'The world has no deployment named') };
}

const deploymentsOf = (server: Server, world: string): Promise<Named[]> =>
  listAll(server, `/worlds/${world}/deployments`);

/** A deployment with the name of its world. */
interface OwnDeployment extends Named {
  readonly world: Named;
}

async function searchDeployment(server: Server, text: string): Promise<DeploymentReference> {
  if (isReference(text)) return searchReference(server, text);
  const all = await ownDeployments(server);
  const found = all
    .filter(({ name }) => name === toNfc(text))
    .map(({ world, address }) => ({ worldAddress: world.address, address }));
  const [only, ...others] = found;
  if (only === undefined)
    throw new StartupError(`None of your worlds has a deployment named "${text}".${namesOf(all)}`);
  if (others.length > 0)
    throw severalOf(
      text,
      found.map(({ worldAddress, address }) => `${worldAddress}/${address}`),
    );
  return only;
}

async function searchReference(server: Server, text: string): Promise<DeploymentReference> {
  for (const { address: worldAddress } of await ownWorlds(server)) {
    const isHere = await askAt(server, 'GET', `/worlds/${worldAddress}/deployments/${text}`).then(
      () => true,
      isElsewhere,
    );
    if (isHere) return { worldAddress, address: text };
  }
  throw new StartupError(`None of your worlds has the deployment ${text}.`);
}

/** A refusal for another reason does not say that it is not there. */
function isElsewhere(error: unknown): false {
  if (error instanceof Refusal && error.problem.status === 404) return false;
  throw error;
}

async function ownDeployments(server: Server): Promise<OwnDeployment[]> {
  const all: OwnDeployment[] = [];
  for (const world of await ownWorlds(server))
    all.push(...(await deploymentsOf(server, world.address)).map((one) => ({ ...one, world })));
  return all;
}

/** Your deployments of this name, as `WORLD/DEPLOYMENT`. */
export async function deploymentsNamed(server: Server, name: string): Promise<string[]> {
  const found = (await ownDeployments(server)).filter((one) => one.name === toNfc(name));
  return found.map(({ world }) => `${world.name}/${name}`);
}

function onlyOne(all: readonly Named[], name: string, none: string): string {
  // As the server stores names, however the terminal composes what is typed.
  const [only, ...others] = all.filter((one) => one.name === toNfc(name));
  if (only === undefined) throw new StartupError(`${none} "${name}".${namesOf(all)}`);
  if (others.length > 0)
    throw severalOf(
      name,
      [only, ...others].map(({ address }) => address),
    );
  return only.address;
}

const severalOf = (name: string, addresses: readonly string[]): StartupError =>
  new StartupError(`Several are named "${name}": choose by address.\n  ${addresses.join('\n  ')}`);

/** At most this many names are listed. */
const MAX_NAMES = 10;

function namesOf(all: readonly Named[]): string {
  if (all.length === 0) return ' There is none yet.';
  const names = all.slice(0, MAX_NAMES).map(({ name }) => name);
  return ` There are: ${names.join(', ')}${all.length > MAX_NAMES ? ', …' : ''}.`;
}
