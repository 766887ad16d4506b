import type { components, Orrery } from '@orrery/sdk';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange, useRequestKey } from '../api/change.js';
import { DEPLOYMENTS, INSTANCES, SCHEDULES } from '../api/deployments.js';
import { keyOf } from '../api/read.js';
import { EVENTS, SCHEMAS, WORLDS } from '../api/worlds.js';
import { Button } from '../ui/button.js';
import { Await, ErrorNote, Progress } from '../ui/messages.js';
import { Card } from '../ui/page.js';

type Bodies = components['schemas'];

/** A world of the folder `examples`, as the bodies of the requests that make it. */
export interface ExampleWorld {
  readonly world: Bodies['CreateWorld'];
  readonly schemas: readonly Bodies['CreateEntitySchema'][];
  readonly events: readonly Bodies['CreateEvent'][];
  readonly deployment: { readonly name: string; readonly instances: readonly Bodies['NewEntityInstance'][] };
}

export function MoreExamples() {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="mt-6" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="text-sm text-muted">Load an example world</summary>
      <div className="mt-3">{isOpen && <LoadExample />}</div>
    </details>
  );
}

export function LoadExample() {
  const examples = useQuery({
    queryKey: ['example-worlds'],
    queryFn: async () => (await import('virtual:example-worlds')).default,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Await query={examples} what="the example worlds">
      {(worlds) => <Choice worlds={worlds} />}
    </Await>
  );
}

function Choice({ worlds }: { worlds: readonly ExampleWorld[] }) {
  const navigate = useNavigate();
  const [progress, setProgress] = useState(0);
  const { keyOf: requestKey, forget } = useRequestKey();
  const load = useChange(
    (orrery, example: ExampleWorld) => {
      setProgress(0);
      return loadExample(orrery, example, requestKey(example.world.name), setProgress);
    },
    [keyOf(WORLDS)],
    (made) => {
      forget();
      return navigate({ to: '/worlds/$world/deployments/$deployment/live', params: made });
    },
  );
  const chosen = load.variables?.world.name;
  return (
    <>
      <ul className="grid gap-3 text-left sm:grid-cols-2 lg:grid-cols-3">
        {worlds.map((example) => (
          <li key={example.world.name}>
            <Card className="flex h-full flex-col">
              <h2 className="font-semibold">{example.world.name}</h2>
              <p className="mt-0.5 grow text-sm text-muted">{example.world.description}</p>
              <div className="mt-3">
                <Button
                  aria-label={`Load ${example.world.name}`}
                  pending={load.isPending && chosen === example.world.name}
                  disabled={load.isPending}
                  onClick={() => load.mutate(example)}
                >
                  Load
                </Button>
              </div>
            </Card>
          </li>
        ))}
      </ul>
      {load.isPending && <Progress label={`Making ${chosen}`} value={progress} />}
      {load.isError && (
        <ErrorNote
          error={load.error}
          title={`${chosen} was not made as a whole`}
          onRetry={() => load.mutate(load.variables)}
        />
      )}
    </>
  );
}

/**
 * Makes the world with a deployment that runs all its events, and its first instances. Its schedules begin paused, as a
 * model may cost money. Repeated with the same key it goes on where it ended, and makes nothing twice.
 * @throws OrreryError at the first refusal
 */
async function loadExample(
  orrery: Orrery,
  { world, schemas, events, deployment }: ExampleWorld,
  key: string,
  onProgress: (part: number) => void,
): Promise<{ world: string; deployment: string }> {
  const total = schemas.length + events.length + deployment.instances.length + 3;
  let done = 0;
  const step = async <T,>(request: (idempotencyKey: string) => Promise<T>): Promise<T> => {
    const answer = await request(`${key}-${done}`);
    done += 1;
    onProgress(done / total);
    return answer;
  };
  const { address: worldAddress } = await step((idempotencyKey) =>
    orrery.post(WORLDS, { body: world, idempotencyKey }),
  );
  const path = { worldAddress };
  for (const body of schemas)
    await step((idempotencyKey) => orrery.post(SCHEMAS, { path, body, idempotencyKey }));
  for (const body of events)
    await step((idempotencyKey) => orrery.post(EVENTS, { path, body, idempotencyKey }));
  const bindings = events.map(({ name }) => ({ event: name, eventVersion: 1 }));
  const { address } = await step((idempotencyKey) =>
    orrery.post(DEPLOYMENTS, { path, body: { name: deployment.name, bindings }, idempotencyKey }),
  );
  await step(async () => {
    for await (const { event } of orrery.list(SCHEDULES, { path: { ...path, address } }))
      await orrery.post(`${SCHEDULES}/{event}/pause`, { path: { ...path, address, event } });
  });
  for (const body of deployment.instances)
    await step((idempotencyKey) =>
      orrery.post(INSTANCES, { path: { ...path, address }, body, idempotencyKey }),
    );
  return { world: worldAddress, deployment: address };
}
