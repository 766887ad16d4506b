import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useRequestKey } from '../api/request-key.js';
import { useChange } from '../api/use-change.js';
import { Button } from '../ui/button.js';
import { Await, ErrorNote, Progress } from '../ui/messages.js';
import { Card } from '../ui/page.js';
import { type ExampleWorld, loadExample } from './example-world.js';

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
  const navigate = useNavigate();
  const [progress, setProgress] = useState(0);
  const { keyOf, forget } = useRequestKey();
  const load = useChange(
    (orrery, example: ExampleWorld) => {
      setProgress(0);
      const onProgress = (done: number, of: number) => setProgress(done / of);
      return loadExample(orrery, example, { key: keyOf(example.world.name), onProgress });
    },
    [['worlds']],
    (made) => {
      forget();
      return navigate({ to: '/worlds/$world/deployments/$deployment/live', params: made });
    },
  );
  return { load, progress };
}
