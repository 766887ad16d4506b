import type { JsonObject } from '@orrery/sdk';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { useDeployments } from '../api/deployments.js';
import type { DeploymentRef } from '../api/records.js';
import { type VersionDraft, versionBodyOf } from '../events/version-draft.js';
import { type Problems, problemMap } from '../forms/drafts.js';
import { formOf } from '../forms/form-model.js';
import { isObject } from '../forms/json.js';
import { tryDraft } from '../run/execute.js';
import { InputEditor, keptOf, partOf, readEntered, startOf } from '../run/input-editor.js';
import { FailureView, OutcomeView } from '../run/outcome-view.js';
import { useOrrery } from '../session/session.js';
import { Button } from '../ui/button.js';
import { SelectField } from '../ui/field.js';
import { isIn, Progress, problemsBelow } from '../ui/messages.js';
import { Card } from '../ui/page.js';
import { useSettled } from '../ui/settled.js';

interface TryDraftProps {
  world: string;
  /** Empty as long as a new one has no name. */
  event: string;
  draft: VersionDraft;
}

/** A dry run of a version as it is typed, with the present state of a deployment of its world. */
export function TryDraft({ world, event, draft }: TryDraftProps) {
  const deployments = useDeployments(world).data?.data;
  const [chosen, choose] = useState<string>();
  const input = useRef<JsonObject>({});
  const contract = useSettled(draft.inputSchema);
  const deployment = chosen ?? deployments?.[0]?.address;
  return (
    <Card className="mt-5">
      <h2 className="text-lg font-semibold">Try it</h2>
      <p className="mb-3 text-sm text-muted">
        A dry run of what is typed, with the present state of a deployment. Nothing is saved or committed.
      </p>
      {deployments?.length === 0 && (
        <p>
          The state comes from a deployment of the world.{' '}
          <Link to="/worlds/$world/deploy" params={{ world }} className="link">
            New deployment
          </Link>
        </p>
      )}
      {deployments !== undefined && deployment !== undefined && (
        <>
          <SelectField
            label="With the state of"
            className="mb-4 max-w-md"
            value={deployment}
            onChange={choose}
            options={deployments.map(({ address, name }) => [address, name])}
          />
          <WithInput
            key={contract}
            of={{ world, deployment }}
            {...{ event, draft, contract, kept: input.current }}
            onInput={(next) => {
              input.current = next;
            }}
          />
        </>
      )}
    </Card>
  );
}

interface WithInputProps extends Omit<TryDraftProps, 'world'> {
  of: DeploymentRef;
  /** The contract of the input, as text. */
  contract: string;
  /** What was entered for the contract before. */
  kept: JsonObject;
  onInput: (input: JsonObject) => void;
}

const NONE: Problems = new Map();

function WithInput({ of, event, draft, contract, kept, onInput }: WithInputProps) {
  const form = useMemo(() => formOf(schemaIn(contract)), [contract]);
  const [entered, setEntered] = useState(() =>
    Object.keys(kept).length === 0 ? startOf(form) : keptOf(form, kept),
  );
  const [problems, setProblems] = useState(NONE);
  const orrery = useOrrery();
  const run = useMutation({
    mutationFn: ({ input }: { input: JsonObject; from: readonly unknown[] }) =>
      tryDraft(orrery, of, { event: event.trim() || 'event', definition: versionBodyOf(draft), input }),
  });
  const from = [draft, entered, of.deployment];
  const isStale = run.variables?.from.some((part, at) => part !== from[at]) === true;
  const start = () => {
    const read = readEntered(form, entered);
    setProblems(read.ok ? NONE : read.problems);
    if (read.ok) run.mutate({ input: read.value, from });
  };
  const shown = problems.size > 0 || isStale ? problems : problemMap(problemsBelow(run.error, '/input'));
  return (
    <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(18rem,5fr)_minmax(0,8fr)]">
      <div>
        <InputEditor
          form={form}
          entered={entered}
          onChange={(next) => {
            setEntered(next);
            onInput(partOf(form, next));
          }}
          problems={shown}
          label="Input of the try"
        />
        <Button className="mt-4" pending={run.isPending} onClick={start}>
          Try it
        </Button>
        {draft.decides === 'ai' && (
          <p className="mt-2 text-sm text-muted">A model is asked, and costs what an execution costs.</p>
        )}
      </div>
      <div aria-live="polite" className="min-w-0">
        {run.isPending && <Progress label="Trying" />}
        {!run.isPending && isStale && (
          <p className="mb-2 text-sm text-muted">The version or the input has been changed since.</p>
        )}
        {run.isSuccess && <OutcomeView outcome={run.data} />}
        {run.isError && (
          <FailureView
            error={run.error}
            kind="dry run"
            inForm={(pointer) => !isStale && isIn('/input', pointer)}
          />
        )}
      </div>
    </div>
  );
}

/** A contract that cannot be read yet is none. */
function schemaIn(contract: string): JsonObject | null {
  try {
    const schema: unknown = JSON.parse(contract);
    return isObject(schema) ? schema : null;
  } catch {
    return null;
  }
}
