import type { JsonObject } from '@orrery/sdk';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useReadAnew, useRequestKey } from '../api/change.js';
import { deploymentKey, useDeploymentRef, useModels } from '../api/deployments.js';
import type { EventVersion } from '../api/records.js';
import { isByModel } from '../events/version-words.js';
import { type Problems, problemMap } from '../forms/drafts.js';
import { formOf, type InputForm } from '../forms/form-model.js';
import { useOrrery } from '../session/session.js';
import { Button } from '../ui/button.js';
import { named, SelectField } from '../ui/field.js';
import { ErrorNote, isIn, Progress, problemsBelow } from '../ui/messages.js';
import { Card } from '../ui/page.js';
import { isUndecided } from '../ui/undecided.js';
import { executeEvent, type Otherwise, type Outcome, tryEvent } from './execute.js';
import {
  type Entered,
  enteredOf,
  InputEditor,
  keptOf,
  partOf,
  readEntered,
  startOf,
} from './input-editor.js';
import { FailureView, OutcomeView } from './outcome-view.js';
import type { Sample } from './proposals.js';
import { SAMPLE_COUNTS, type SampleCount, SamplesView, takeSamples } from './samples.js';

export interface EventRunnerProps {
  version: EventVersion;
  /** The version that is bound: only that is executed. */
  bound: number;
  given: JsonObject | undefined;
  /** What was entered for another version of the event. */
  kept: JsonObject | undefined;
  /** Called with what is entered, as far as it can be read. */
  onInput: (input: JsonObject) => void;
}

const NONE: Problems = new Map();

/** The input of one event, and its outcome. A new event or version gets a new one of these. */
export function EventRunner({ version, bound, given, kept, onInput }: EventRunnerProps) {
  const form = useMemo(() => formOf(version.inputSchema), [version.inputSchema]);
  const [entered, setEntered] = useState(() => beginOf(form, { given, kept }));
  const [problems, setProblems] = useState(NONE);
  const [aiModelId, setModel] = useState('');
  const [count, setCount] = useState<SampleCount>('1');
  const isAi = isByModel(version);
  const isBound = version.version === bound;
  const otherwise: Otherwise = {
    ...(!isBound && { eventVersion: version.version }),
    ...(aiModelId !== '' && { aiModelId }),
  };
  const { run, done, isStale } = useRun(version, isAi, entered, otherwise);
  const enter = (next: Entered) => {
    setEntered(next);
    onInput(partOf(form, next));
  };
  const start = (kind: Outcome['kind']) => {
    const read = readEntered(form, entered);
    setProblems(read.ok ? NONE : read.problems);
    const times = isAi && kind === 'dry run' ? Number(count) : 1;
    if (read.ok) run.mutate({ kind, input: read.value, entered, times });
  };
  const shown = problems.size > 0 || isStale ? problems : problemMap(problemsBelow(run.error, '/input'));
  const isTried = isBound && aiModelId === '' && run.data?.kind !== 'execution' && run.isSuccess && !isStale;
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
          {isAi && (
            <div className="mt-4 grid grid-cols-1 gap-4">
              <ModelChoice value={aiModelId} onChange={setModel} />
              <SelectField<SampleCount>
                label="Samples"
                hint="Dry runs of the same input, side by side. Each costs what one costs."
                value={count}
                onChange={setCount}
                options={named(SAMPLE_COUNTS)}
              />
            </div>
          )}
          <div className="mt-4 flex flex-wrap gap-2">
            {/* Enter in a field does what the first button of this type does. */}
            <Button
              type={isTried ? 'button' : 'submit'}
              look={isTried ? 'secondary' : 'primary'}
              pending={run.isPending && run.variables.kind === 'dry run'}
              disabled={run.isPending}
              onClick={isTried ? () => start('dry run') : undefined}
            >
              Dry run
            </Button>
            <Button
              type={isTried ? 'submit' : 'button'}
              look={isTried ? 'primary' : 'secondary'}
              pending={run.isPending && run.variables.kind === 'execution'}
              disabled={run.isPending || !isBound}
              onClick={isTried ? undefined : () => start('execution')}
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
        {run.isPending && <Waiting {...run.variables} done={done} isAi={isAi} />}
        {!run.isPending && isStale && !run.isIdle && (
          <p className="mb-2 text-sm text-muted">The input has been changed since.</p>
        )}
        {run.isSuccess &&
          (run.data.kind === 'samples' ? (
            <SamplesView samples={run.data.samples} />
          ) : (
            <OutcomeView outcome={run.data} />
          ))}
        {run.isError && (
          <FailureView
            error={run.error}
            kind={run.variables.kind}
            inForm={(pointer) => isIn('/input', pointer)}
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

interface Sent {
  readonly kind: Outcome['kind'];
  readonly input: JsonObject;
  /** How many dry runs. */
  readonly times: number;
  /** What was in the form then. */
  readonly entered: unknown;
}

interface Sampled {
  readonly kind: 'samples';
  readonly samples: readonly Sample[];
}

/** Dry runs and executions of one event; `isStale`: the form has changed since the last one. */
function useRun({ event }: EventVersion, isSlow: boolean, entered: unknown, otherwise: Otherwise) {
  const orrery = useOrrery();
  const ref = useDeploymentRef();
  const readAnew = useReadAnew();
  const leaving = useLeaving();
  const undecided = useRequestKey();
  const [done, onDone] = useState(0);
  const run = useMutation({
    mutationFn: async ({ kind, input, times }: Sent): Promise<Outcome | Sampled> => {
      onDone(0);
      if (times > 1) {
        const options = { times, otherwise, signal: leaving(), onDone };
        return { kind: 'samples', samples: await takeSamples(orrery, ref, { event, input }, options) };
      }
      if (kind === 'dry run') return tryEvent(orrery, ref, { event, input }, otherwise);
      const idempotencyKey = undecided.keyOf(JSON.stringify(input));
      return executeEvent(orrery, ref, { event, input }, { isSlow, idempotencyKey, signal: leaving() });
    },
    onSettled: (_data, error, { kind }) => {
      if (kind === 'dry run') return;
      if (!isUndecided(error)) undecided.forget();
      void readAnew([deploymentKey(ref)]);
    },
  });
  return { run, done, isStale: run.variables !== undefined && run.variables.entered !== entered };
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

interface ModelChoiceProps {
  /** Empty: the deployment's own. */
  value: string;
  onChange: (model: string) => void;
}

function ModelChoice({ value, onChange }: ModelChoiceProps) {
  const { data, error } = useModels();
  const models = data?.data ?? [];
  return (
    <div>
      <SelectField
        label="Model of dry runs"
        hint="An execution asks the model of the deployment."
        value={value}
        onChange={onChange}
        options={[
          ['', "the deployment's"],
          ...models.map(({ modelId, modelDisplayName }) => [modelId, modelDisplayName] as const),
        ]}
      />
      <ErrorNote error={error} title="The models could not be read" />
    </div>
  );
}

interface WaitingProps extends Pick<Sent, 'kind' | 'times'> {
  /** Samples that are there. */
  done: number;
  isAi: boolean;
}

function Waiting({ kind: what, times, done, isAi }: WaitingProps) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((now) => now + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  if (times > 1) return <Progress label={`${done} of ${times} samples`} value={done / times} />;
  return (
    <>
      <Progress
        label={isAi ? `Waiting for the model (${what})` : what === 'dry run' ? 'Trying' : 'Executing'}
      />
      {seconds >= 2 && (
        <p className="text-sm text-muted" aria-hidden="true">
          {seconds} s
        </p>
      )}
      {isAi && what === 'execution' && (
        <p className="text-sm text-muted">
          You may leave this page: the execution goes on, and the history will show it.
        </p>
      )}
    </>
  );
}
