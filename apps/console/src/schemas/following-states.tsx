import type { components, Orrery } from '@orrery/sdk';
import { useState } from 'react';
import { useChange } from '../api/change.js';
import { DEPLOYMENTS, deploymentKey, INSTANCES } from '../api/deployments.js';
import type { Deployment } from '../api/records.js';
import { Button, NameLink } from '../ui/button.js';
import { FormButton } from '../ui/dialog.js';
import { TextField } from '../ui/field.js';
import { JsonEditor } from '../ui/json-editor/json-editor.js';
import { ErrorNote, problemAt } from '../ui/messages.js';
import { Section } from '../ui/page.js';
import { memberByLabel, useRefusal } from '../ui/refusal.js';
import { actionsColumn, type Column, Table } from '../ui/table.js';
import { Badge } from '../ui/values.js';
import type { SchemaRef } from './attribute-form.js';

type Check = components['schemas']['InstanceCheck'];
type Mapping = components['schemas']['InstanceMapping'];

/** What the requests through all instances of a deployment have counted. */
interface Counted {
  readonly lookedAt: number;
  readonly unfit: number;
  /** Mapped, or such as would be. */
  readonly mapped: number;
  readonly misfits: Check['misfits'];
}
const NONE: Counted = { lookedAt: 0, unfit: 0, mapped: 0, misfits: [] };

interface CountedDeployment extends Counted {
  readonly deployment: Deployment;
}

interface Asked {
  readonly entitySchema: string;
  readonly mapping?: object;
  readonly where?: string;
}

/** Asks for all instances, request by request. What was mapped stays so where one of them fails. */
async function throughInstances(
  orrery: Orrery,
  { worldAddress, address }: Pick<Deployment, 'worldAddress' | 'address'>,
  verb: 'check' | 'map',
  asked: Asked,
): Promise<Counted> {
  const path = { worldAddress, address };
  let counted = NONE;
  let cursor: string | undefined;
  do {
    const body = { ...asked, ...(cursor !== undefined && { cursor }) } as never;
    const page: Check | Mapping =
      verb === 'check'
        ? await orrery.post(`${INSTANCES}/check`, { path, body })
        : await orrery.post(`${INSTANCES}/map`, { path, body });
    counted = {
      lookedAt: counted.lookedAt + page.lookedAt,
      unfit: counted.unfit + page.unfit,
      mapped: counted.mapped + ('mapped' in page ? page.mapped : page.mappable),
      misfits: [...counted.misfits, ...page.misfits].slice(0, 20),
    };
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return counted;
}

/** How many instances of which deployments do not satisfy a schema any more, and what makes them follow it. */
export function FollowingStates({ world, schema }: SchemaRef) {
  const count = useChange(async (orrery) => {
    const all: CountedDeployment[] = [];
    for await (const deployment of orrery.list(DEPLOYMENTS, { path: { worldAddress: world } }))
      all.push({
        deployment,
        ...(await throughInstances(orrery, deployment, 'check', { entitySchema: schema })),
      });
    return all;
  }, []);
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
                count.mutate();
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
        <Button onClick={() => count.mutate()} pending={count.isPending}>
          Count
        </Button>
      }
    >
      <ErrorNote title="They were not counted" error={count.error} />
      {count.data !== undefined &&
        (count.data.length === 0 ? (
          <p className="text-muted">The world has no deployment.</p>
        ) : (
          <Table
            label="Deployments by instances that do not satisfy the schema"
            columns={columns}
            rows={count.data}
            rowKey={({ deployment }) => deployment.id}
          />
        ))}
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
  const keys = [deploymentKey({ world, deployment: deployment.address })];
  const run = useChange(async (orrery, verb: 'check' | 'map') => {
    const mapping = JSON.parse(text) as object;
    const asked = { entitySchema: schema, mapping, ...(where.trim() !== '' && { where }) };
    return { verb, ...(await throughInstances(orrery, deployment, verb, asked)) };
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

const Outcome = ({ verb, unfit, lookedAt, mapped, misfits }: Counted & { verb: 'check' | 'map' }) => (
  <div role="status" className="space-y-1">
    <p>
      {unfit} of {lookedAt} instances did not satisfy the schema; {mapped}{' '}
      {verb === 'map' ? 'were mapped.' : 'would be mapped.'}
    </p>
    {misfits.map(({ instanceId, problems }) => (
      <p key={instanceId} className="break-words text-sm text-muted">
        <code className="font-mono">{instanceId}</code>: {problems.map(({ message }) => message).join(' ')}
      </p>
    ))}
  </div>
);
