import { type ApiAnswer, type ApiClient, created } from '../api/api-client.js';
import { makeWorld, plant } from '../worlds/make-world.js';

const direct = (template: object) => ({ mode: 'direct', template });
const horse = {
  name: 'horse',
  attributes: [
    { name: 'wins', type: 'integer', defaultValue: 0, constraints: { min: 0, max: 1000 } },
    { name: 'odds', type: 'float' },
  ],
};
const win = {
  inputSchema: { horse: 'string' },
  stateChanges: { horse: 'partial' },
  mutationSettings: direct({
    stateChanges: { 'horse:{{input.horse}}': { wins: { $increment: 1 } } },
    result: { headline: '{{input.horse}} wins', count: 1 },
  }),
};
const clock = { mutationSettings: direct({ result: { at: '{{ timestamp }}' } }) };
const leaders = {
  readEntities: [{ schema: 'horse', where: 'instance.wins > 0', orderBy: 'wins desc', limit: 2 }],
  mutationSettings: direct({ result: { leaders: '{{ entities.horse.map(id, id) }}' } }),
};
const fails = { mutationSettings: direct({ result: { r: '{{ input.none + 1 }}' } }) };
const later = {
  mutationSettings: direct({ result: { set: true } }),
  followUps: [{ event: 'win', input: { horse: 'HOT' }, after: 'PT100H' }],
};
const dice = {
  inputSchema: { of: 'string' },
  mutationSettings: direct({ result: { die: '{{ random.int(1, 6) }}' } }),
};
const judged = {
  readEntities: [{ schema: 'horse' }],
  outputSchema: { verdict: 'string' },
  stateChanges: { horse: 'partial' },
  behaviorPrompt: 'Judge the race.',
  mutationSettings: { mode: 'ai' },
};

export interface Story {
  readonly world: string;
  readonly address: string;
  readonly id: number;
  /** Below `/api`. */
  readonly path: string;
  /** A clone is made of the state after this entry. */
  readonly clonedSeq: number;
}

function expectOk({ status, body }: ApiAnswer): void {
  if (status !== 200) throw new Error(`not executed: ${JSON.stringify(body)}`);
}

/** A world of which many deployments are made, each to be tampered with once. */
export async function tamperedWorld(api: ApiClient) {
  const events = Object.entries({ win, clock, leaders, fails, later, dice, judged });
  const made = await makeWorld(api, {
    name: 'Derby',
    schemas: [horse],
    events: events.map(([name, firstVersion]) => ({ name, firstVersion })),
  });
  const wins = async (path: string, times: number) => {
    for (let time = 0; time < times; time += 1)
      expectOk(await api.post(`${path}/execute`, { event: 'win', input: { horse: 'HOT' } }));
  };
  const throwDice = async (path: string, ...throwers: string[]) => {
    for (const of of throwers) expectOk(await api.post(`${path}/execute`, { event: 'dice', input: { of } }));
  };
  return {
    /** HOT changes often enough for a kept state, COLD is written by hand and never again. */
    play: async (): Promise<Story> => {
      const { address, id, path } = await made.deploy();
      await plant(api, path, 'horse', 'COLD', { odds: 0.5 });
      await plant(api, path, 'horse', 'HOT');
      await wins(path, 104);
      const [{ seq: clonedSeq }] = (await api.get(`${path}/history?limit=1`)).body.data;
      await throwDice(path, 'A');
      return { world: made.address, address, id, path, clonedSeq };
    },
    /** One execution of each kind, and the reveal of what was drawn. */
    goOn: async ({ path }: Story) => {
      for (const event of ['clock', 'leaders', 'later', 'judged'])
        expectOk(await api.post(`${path}/execute`, { event, input: {} }));
      await api.post(`${path}/execute`, { event: 'fails', input: {} });
      await throwDice(path, 'B', 'C');
      expectOk(await api.post(`${path}/randomness/reveal`));
      await wins(path, 2);
    },
    /** So many entries that the service keeps nodes of the tree. */
    growTree: ({ path }: Story) => wins(path, 200),
    clone: async ({ address, clonedSeq }: Story): Promise<Story> => {
      const body = { name: 'Clone', bindings: [], sourceDeployment: address, sourceSeq: clonedSeq };
      const cloned = created(await api.post(`${made.path}/deployments`, body));
      const path = `${made.path}/deployments/${cloned.address}`;
      await wins(path, 2);
      return { world: made.address, address: String(cloned.address), id: cloned.id, path, clonedSeq: 2 };
    },
  };
}
