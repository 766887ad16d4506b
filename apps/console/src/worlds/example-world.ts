import type { components, Orrery } from '@orrery/sdk';

type Bodies = components['schemas'];

/** A world of the folder `examples`, as the bodies of the requests that make it. */
export interface ExampleWorld {
  readonly world: Bodies['CreateWorld'];
  readonly schemas: readonly Bodies['CreateEntitySchema'][];
  readonly events: readonly Bodies['CreateEvent'][];
  readonly deployment: { readonly name: string; readonly instances: readonly Bodies['NewEntityInstance'][] };
}

export interface Loading {
  /** Names this try: repeated with the same name it goes on where it ended, and makes nothing twice. */
  readonly key: string;
  readonly onProgress: (done: number, of: number) => void;
}

/**
 * Makes the world with a deployment that runs all its events, and its first instances. Its schedules begin paused, as a
 * model may cost money.
 * @throws OrreryError at the first refusal
 */
export async function loadExample(
  orrery: Orrery,
  { world, schemas, events, deployment }: ExampleWorld,
  { key, onProgress }: Loading,
): Promise<{ world: string; deployment: string }> {
  const total = schemas.length + events.length + deployment.instances.length + 3;
  let done = 0;
  const step = async <T>(request: (options: { idempotencyKey: string }) => Promise<T>): Promise<T> => {
    const answer = await request({ idempotencyKey: `${key}-${done}` });
    done += 1;
    onProgress(done, total);
    return answer;
  };
  const { address: worldAddress } = await step((keyed) =>
    orrery.post('/api/worlds', { body: world, ...keyed }),
  );
  const path = { worldAddress };
  for (const body of schemas)
    await step((keyed) => orrery.post('/api/worlds/{worldAddress}/entity-schemas', { path, body, ...keyed }));
  for (const body of events)
    await step((keyed) => orrery.post('/api/worlds/{worldAddress}/events', { path, body, ...keyed }));
  const { address } = await step((keyed) =>
    orrery.post('/api/worlds/{worldAddress}/deployments', {
      path,
      body: { name: deployment.name, bindings: events.map(({ name }) => ({ event: name, eventVersion: 1 })) },
      ...keyed,
    }),
  );
  await step(() => pauseSchedules(orrery, { worldAddress, address }));
  for (const body of deployment.instances)
    await step((keyed) =>
      orrery.post('/api/worlds/{worldAddress}/deployments/{address}/entity-instances', {
        path: { ...path, address },
        body,
        ...keyed,
      }),
    );
  return { world: worldAddress, deployment: address };
}

async function pauseSchedules(
  orrery: Orrery,
  path: { worldAddress: string; address: string },
): Promise<void> {
  const schedules = '/api/worlds/{worldAddress}/deployments/{address}/schedules';
  for await (const { event } of orrery.list(schedules, { path }))
    await orrery.post(`${schedules}/{event}/pause`, { path: { ...path, event } });
}
