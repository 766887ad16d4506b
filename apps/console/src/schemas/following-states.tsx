import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useChange } from '../api/change.js';
import { deploymentKey } from '../api/deployments.js';
import type { Deployment } from '../api/records.js';
import { useOrrery } from '../session/session.js';
import { Button, NameLink } from '../ui/button.js';
import { FormButton } from '../ui/dialog.js';
import { CheckField, TextField } from '../ui/field.js';
import { JsonEditor } from '../ui/json-editor/json-editor.js';
import { ErrorNote, Progress, problemAt } from '../ui/messages.js';
import { Section } from '../ui/page.js';
import { memberByLabel, useRefusal } from '../ui/refusal.js';
import { actionsColumn, type Column, Table } from '../ui/table.js';
import { Badge } from '../ui/values.js';
import type { SchemaRef } from './attribute-form.js';
import {
  COUNT_BEGINS,
  type Counted,
  type CountedDeployment,
  type Counting,
  countDeployments,
  NOTHING_COUNTED,
  throughInstances,
} from './count-instances.js';

/** Counts when it is told to, and no longer than one stays on the page. What was counted by then is shown. */
function useCount(ref: SchemaRef) {
  const orrery = useOrrery();
  const [counting, setCounting] = useState(COUNT_BEGINS);
  const leaving = useRef<AbortController>(null);
  const run = useMutation({
    mutationFn: async () => {
      leaving.current?.abort();
      const controller = new AbortController();
      leaving.current = controller;
      setCounting(COUNT_BEGINS);
      for await (const now of countDeployments(orrery, ref, controller.signal)) setCounting(now);
    },
  });
  useEffect(() => () => leaving.current?.abort(), []);
  const stop = () => {
    leaving.current?.abort();
    run.reset();
  };
  return { run, counting, stop };
}

const CountProgress = ({ counting: { deployments, of, lookedAt } }: { counting: Counting }) => (
  <Progress
    label={`${deployments.length} of ${of} deployments, ${lookedAt.toLocaleString('en')} instances`}
    value={of === 0 ? 0 : deployments.length / of}
  />
);

/** How many instances of which deployments do not satisfy a schema any more, and what makes them follow it. */
export function FollowingStates({ world, schema }: SchemaRef) {
  const { run, counting, stop } = useCount({ world, schema });
  const { deployments, of } = counting;
  const columns: readonly Column<CountedDeployment>[] = [
    {
      header: 'Deployment',
      cell: ({ deployment }) => (
        <NameLink
          to="/worlds/$world/deployments/$deployment"
          params={{ world, deployment: deployment.address }}
        >
          {deployment.name}
        </NameLink>
      ),
    },
    { header: 'Instances', cell: ({ lookedAt }) => lookedAt },
    {
      header: 'Do not satisfy it',
      cell: ({ unfit }) => (unfit === 0 ? 'none' : <Badge tone="warn">{unfit}</Badge>),
    },
    actionsColumn<CountedDeployment>(({ deployment }) =>
      deployment.mode === 'locked' ? (
        'locked: nothing is written'
      ) : (
        <FormButton verb="Map" size="small" title={`Map instances of ${deployment.name}`} wide>
          {(close) => (
            <MappingForm
              deployment={deployment}
              world={world}
              schema={schema}
              onClose={() => {
                close();
                run.mutate();
              }}
            />
          )}
        </FormButton>
      ),
    ),
  ];
  return (
    <Section
      title="States that follow"
      lead="After a change some instances may not satisfy the schema any more. They keep their states until something maps them."
      actions={
        <>
          {run.isPending && <Button onClick={stop}>Stop</Button>}
          <Button onClick={() => run.mutate()} pending={run.isPending}>
            Count
          </Button>
        </>
      }
    >
      {run.isPending && <CountProgress counting={counting} />}
      <ErrorNote title="They were not counted" error={run.error} />
      {run.isSuccess && of === 0 && <p className="text-muted">The world has no deployment.</p>}
      {deployments.length > 0 && (
        <Table
          label="Deployments by instances that do not satisfy the schema"
          columns={columns}
          rows={deployments}
          rowKey={({ deployment }) => deployment.id}
        />
      )}
      {!run.isPending && deployments.length < of && (
        <p className="mt-2 text-muted">
          {deployments.length} of {of} deployments were counted.
        </p>
      )}
    </Section>
  );
}

interface MappingFormProps extends SchemaRef {
  readonly deployment: Deployment;
  readonly onClose: () => void;
}

const PARTS = { '/where': 'Also map what satisfies', '/mapping': 'New values' };
const BEGINNING = '{\n  "attribute": "{{ instance.old }}",\n  "old": null\n}';

function MappingForm({ deployment, world, schema, onClose }: MappingFormProps) {
  const [text, setText] = useState(BEGINNING);
  const [where, setWhere] = useState('');
  const [fillDefaults, setFillDefaults] = useState(false);
  const keys = [deploymentKey({ world, deployment: deployment.address })];
  const run = useChange(async (orrery, verb: 'check' | 'map') => {
    const mapping = JSON.parse(text) as object;
    const condition = where.trim() === '' ? {} : { where };
    const asked = { entitySchema: schema, mapping, ...condition, ...(fillDefaults && { fillDefaults }) };
    let counted = NOTHING_COUNTED;
    for await (counted of throughInstances(orrery, deployment, verb, asked));
    return { verb, ...counted, selectsMore: where.trim() !== '' || fillDefaults };
  }, keys);
  const refusal = useRefusal(run.error, { where, mapping: text }, memberByLabel(PARTS));
  return (
    <div className="space-y-4">
      <JsonEditor
        label="New values"
        hint="By attribute; {{ … }} holds CEL over instance and id, null removes. Attributes that are not named stay."
        value={text}
        onChange={setText}
        problems={[]}
        rows={8}
      />
      <TextField
        label="Also map what satisfies"
        hint="A CEL condition, such as has(instance.old); empty: only what does not satisfy the schema."
        value={where}
        onChange={setWhere}
        error={problemAt(refusal, '/where')}
      />
      <CheckField
        label="Fill in defaults"
        hint="Also of instances that satisfy the schema without them. Queries find what is stored; here instance has its defaults."
        checked={fillDefaults}
        onChange={setFillDefaults}
      />
      <ErrorNote title="Nothing more was mapped" error={refusal} />
      {run.data !== undefined && <Outcome {...run.data} />}
      <div className="flex gap-2">
        <Button onClick={() => run.mutate('check')} pending={run.isPending}>
          Dry run
        </Button>
        <Button look="primary" onClick={() => run.mutate('map')} pending={run.isPending}>
          Map them
        </Button>
        <Button onClick={onClose}>Close</Button>
      </div>
    </div>
  );
}

interface OutcomeProps extends Counted {
  readonly verb: 'check' | 'map';
  /** Also instances that satisfy the schema. */
  readonly selectsMore: boolean;
}

const Outcome = ({ verb, unfit, lookedAt, mapped, misfits, selectsMore }: OutcomeProps) => (
  <div role="status" className="space-y-1">
    <p>
      {unfit} of {lookedAt} instances did not satisfy the schema{selectsMore && ' or were selected'}; {mapped}{' '}
      {verb === 'map' ? 'were mapped.' : 'would be mapped.'}
    </p>
    {misfits.map(({ instanceId, problems }) => (
      <p key={instanceId} className="break-words text-sm text-muted">
        <code className="font-mono">{instanceId}</code>: {problems.map(({ message }) => message).join(' ')}
      </p>
    ))}
  </div>
);
