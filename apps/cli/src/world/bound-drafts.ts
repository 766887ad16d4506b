import { listAll } from '../operations/references.js';
import { askOrFail } from '../server/ask-server.js';
import type { Server } from '../server/find-server.js';
import type { Plan } from './plan-changes.js';

interface Binding {
  readonly event: string;
  readonly eventVersion: number;
}

/** Which deployments run a draft that is to change, a sentence for each such event. */
export async function boundDrafts({ changes }: Plan, world: string, server: Server): Promise<string[]> {
  const drafts = changes.flatMap((change) =>
    change.what === 'change event' && change.version?.isNew === false
      ? [{ event: change.name, eventVersion: change.version.number }]
      : [],
  );
  if (drafts.length === 0) return [];
  const users = await usersOf(world, server);
  return drafts.flatMap(({ event, eventVersion }) => {
    const names = users.get(keyOf({ event, eventVersion })) ?? [];
    if (names.length === 0) return [];
    const who = names.map((name) => `"${name}"`).join(', ');
    return [
      `event ${event}: version ${eventVersion} is bound by ${who}, which ${names.length === 1 ? RUNS : RUN}.`,
    ];
  });
}

const RUNS = 'runs it as changed from then on; --new-versions leaves it as it is';
const RUN = 'run it as changed from then on; --new-versions leaves them as they are';

const keyOf = ({ event, eventVersion }: Binding): string => `${eventVersion} ${event}`;

/** The names of the deployments that bind a version. */
async function usersOf(world: string, server: Server): Promise<Map<string, string[]>> {
  const users = new Map<string, string[]>();
  const path = `/worlds/${world}/deployments`;
  for (const { address, name } of await listAll<{ address: string; name: string }>(server, path)) {
    const { data } = await askOrFail(server, 'GET', `${path}/${address}/event-bindings`);
    for (const binding of data as Binding[])
      users.set(keyOf(binding), [...(users.get(keyOf(binding)) ?? []), name]);
  }
  return users;
}
