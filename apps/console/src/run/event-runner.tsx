import type { JsonObject } from '@orrery/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { deploymentKey } from '../api/deployments.js';
import type { EventVersion } from '../api/records.js';
import { useRequestKey } from '../api/request-key.js';
import { useDeploymentRef } from '../deployments/use-deployment-ref.js';
import { isByModel } from '../events/version-words.js';
import type { Problems } from '../forms/drafts.js';
import { formOf, type InputForm } from '../forms/form-model.js';
import { useOrrery } from '../session/use-session.js';
import { Button } from '../ui/button.js';
import { problemsOf } from '../ui/error-note.js';
import { Card } from '../ui/page.js';
import { ModelChoice } from './dry-run-choice.js';
import { executeEvent, isUndecided, type Otherwise, type Outcome, tryEvent } from './execute.js';
import { InputEditor } from './input-editor.js';
import { type Entered, enteredOf, keptOf, partOf, readEntered, startOf } from './input-state.js';
import { FailureView, OutcomeView } from './outcome-view.js';
import { Waiting } from './waiting.js';

export interface EventRunnerProps {
  version: EventVersion;
  /** The version that is bound: only that is executed. */
  bound: number;
  /** What the form starts with. */
  given: JsonObject | undefined;
  /** What was entered for another version of the event. */
  kept: JsonObject | undefined;
  /** Called with what is entered, as far as it can be read. */
  onInput: (input: JsonObject) => void;
}

const NONE: Problems = new Map();

/** The input of one event, and what became of it. A new event or version gets a new one of these. */
export function EventRunner({ version, bound, given, kept, onInput }: EventRunnerProps) {
  const form = useMemo(() => formOf(version.inputSchema), [version.inputSchema]);
  const [entered, setEntered] = useState(() => beginOf(form, { given, kept }));
  const [problems, setProblems] = useState(NONE);
  const [aiModelId, setModel] = useState('');
  const isAi = isByModel(version);
  const isBound = version.version === bound;
  const otherwise: Otherwise = {
    ...(!isBound && { eventVersion: version.version }),
    ...(aiModelId !== '' && { aiModelId }),
  };
  const { run, isStale } = useRun(version, isAi, entered, otherwise);
  const enter = (next: Entered) => {
    setEntered(next);
    onInput(partOf(form, next));
  };
  const start = (kind: Outcome['kind']) => {
    const read = readEntered(form, entered);
    setProblems(read.ok ? NONE : read.problems);
    if (read.ok) run.mutate({ kind, input: read.value, entered });
  };
  const shown = problems.size > 0 || isStale ? problems : inputProblems(run.error);
  const isTried = isBound && aiModelId === '' && run.data?.kind === 'dry run' && !isStale;
  return (
    <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(18rem,5fr)_minmax(0,8fr)]">
      <Card>
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            start(isTried ? 'execution' : 'dry run');
          }}
        >
          <InputEditor form={form} entered={entered} onChange={enter} problems={shown} />
          {isAi && <ModelChoice value={aiModelId} onChange={setModel} />}
          <div className="mt-4 flex flex-wrap gap-2">
            <Button
              look={isTried ? 'secondary' : 'primary'}
              pending={run.isPending && run.variables.kind === 'dry run'}
              disabled={run.isPending}
              onClick={() => start('dry run')}
            >
              Dry run
            </Button>
            <Button
              look={isTried ? 'primary' : 'secondary'}
              pending={run.isPending && run.variables.kind === 'execution'}
              disabled={run.isPending || !isBound}
              onClick={() => start('execution')}
            >
              Execute
            </Button>
          </div>
          <p className="mt-2 text-sm text-muted">
            {isAi
              ? 'A model decides. A dry run asks it too, and costs the same.'
              : 'A dry run shows the change and commits nothing.'}
            {!isBound && ` Executed is version ${bound}, which is bound.`}
          </p>
        </form>
      </Card>
      <div aria-live="polite" className="min-w-0">
        {run.isIdle && <p className="py-2 text-muted">What the event changes is shown here.</p>}
        {run.isPending && <Waiting what={run.variables.kind} isAi={isAi} />}
        {!run.isPending && isStale && !run.isIdle && (
          <p className="mb-2 text-sm text-muted">The input has been changed since.</p>
        )}
        {run.isSuccess && <OutcomeView outcome={run.data} />}
        {run.isError && (
          <FailureView
            error={run.error}
            kind={run.variables.kind}
            inForm={(pointer) => inputProblems(run.error).has(pointer.replace(/^\/input/, ''))}
          />
        )}
      </div>
    </div>
  );
}

function beginOf(form: InputForm, { given, kept }: Pick<EventRunnerProps, 'given' | 'kept'>): Entered {
  if (kept !== undefined) return keptOf(form, kept);
  return given === undefined ? startOf(form) : enteredOf(form, given);
}

/** What the service found wrong in the input, by pointers into it. */
const inputProblems = (error: unknown): Problems =>
  new Map(
    problemsOf(error)
      .filter(({ pointer }) => /^\/input(\/|$)/.test(pointer))
      .map(({ pointer, message }) => [pointer.replace(/^\/input/, ''), message]),
  );

interface Attempt {
  readonly kind: Outcome['kind'];
  readonly input: JsonObject;
  /** What was in the form then. */
  readonly entered: unknown;
}

/** Tries and executions of one event; `isStale`: the form has changed since the last one. */
function useRun({ event }: EventVersion, isSlow: boolean, entered: unknown, otherwise: Otherwise) {
  const orrery = useOrrery();
  const ref = useDeploymentRef();
  const cache = useQueryClient();
  const leaving = useLeaving();
  const undecided = useRequestKey();
  const run = useMutation({
    mutationFn: ({ kind, input }: Attempt) => {
      if (kind === 'dry run') return tryEvent(orrery, ref, { event, input }, otherwise);
      const idempotencyKey = undecided.keyOf(JSON.stringify(input));
      return executeEvent(orrery, ref, { event, input }, { isSlow, idempotencyKey, signal: leaving() });
    },
    onSettled: (_data, error, { kind }) => {
      if (kind === 'dry run') return;
      if (!isUndecided(error)) undecided.forget();
      void cache.invalidateQueries({ queryKey: deploymentKey(ref) });
    },
  });
  return { run, isStale: run.variables !== undefined && run.variables.entered !== entered };
}

/** Gives the signal that ends waiting when the page is left. */
function useLeaving(): () => AbortSignal {
  const controller = useRef(new AbortController());
  useEffect(() => {
    controller.current = new AbortController();
    return () => controller.current.abort();
  }, []);
  return () => controller.current.signal;
}
