import { type ApiClient, created } from '../api/api-client.js';

export interface WorldToMake {
  readonly name: string;
  readonly promptSeed?: string;
  readonly schemas: readonly object[];
  readonly events: readonly { readonly name: string; readonly firstVersion: object }[];
}

export interface MadeDeployment {
  readonly address: string;
  readonly id: number;
  /** Below `/api`. */
  readonly path: string;
}

export interface MadeWorld {
  readonly address: string;
  /** Below `/api`. */
  readonly path: string;
  /** Makes a deployment with the first versions of all events bound. */
  deploy(settings?: object): Promise<MadeDeployment>;
}

export async function makeWorld(
  api: ApiClient,
  { schemas, events, ...world }: WorldToMake,
): Promise<MadeWorld> {
  const { address } = created(await api.post('/worlds', world));
  const path = `/worlds/${address}`;
  for (const schema of schemas) created(await api.post(`${path}/entity-schemas`, schema));
  for (const event of events) created(await api.post(`${path}/events`, event));
  const bindings = events.map(({ name }) => ({ event: name, eventVersion: 1 }));
  const deploy = async (settings = {}) => {
    const body = { name: 'One', bindings, ...settings };
    const made = created(await api.post(`${path}/deployments`, body));
    return { address: String(made.address), id: made.id, path: `${path}/deployments/${made.address}` };
  };
  return { address, path, deploy };
}

/** A schema whose attributes are whole numbers from 0. */
export const counting = (name: string, ...attributes: string[]) => ({
  name,
  attributes: attributes.map((one) => ({ name: one, type: 'integer', defaultValue: 0 })),
});

/** Makes an instance of a deployment. */
export const plant = async (
  api: ApiClient,
  deployment: string,
  entitySchema: string,
  instanceId: string,
  state?: object,
): Promise<void> => {
  created(await api.post(`${deployment}/entity-instances`, { entitySchema, instanceId, state }));
};
