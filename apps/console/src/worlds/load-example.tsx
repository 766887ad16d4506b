import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useRequestKey } from '../api/request-key.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { Button } from '../ui/button.js';
import { ErrorNote } from '../ui/error-note.js';
import { Card } from '../ui/page.js';
import { Progress } from '../ui/progress.js';
import { type ExampleWorld, loadExample } from './example-world.js';

/** The same below a list of worlds, out of the way until it is opened. */
export function MoreExamples() {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="mt-6" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="text-sm text-muted">Load an example world</summary>
      <div className="mt-3">{isOpen && <LoadExample />}</div>
    </details>
  );
}

/** The example worlds, each of which is made with a click. */
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
  const { load, progress } = useLoading();
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
          onRetry={() => load.variables && load.mutate(load.variables)}
        />
      )}
    </>
  );
}

function useLoading() {
  const orrery = useOrrery();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const [progress, setProgress] = useState(0);
  const { keyOf, forget } = useRequestKey();
  const load = useMutation({
    mutationFn: (example: ExampleWorld) => {
      setProgress(0);
      const onProgress = (done: number, of: number) => setProgress(done / of);
      return loadExample(orrery, example, { key: keyOf(example.world.name), onProgress });
    },
    onSuccess: async (made) => {
      forget();
      await cache.invalidateQueries({ queryKey: ['worlds'] });
      await navigate({ to: '/worlds/$world/deployments/$deployment/live', params: made });
    },
  });
  return { load, progress };
}
