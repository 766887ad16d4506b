import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import type { Attribute, EntitySchema } from '../api/records.js';
import { schemaQuery } from '../api/schemas.js';
import { useChange, useRemoval } from '../api/use-change.js';
import { isOwn, worldKey, worldQuery } from '../api/worlds.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { Badge } from '../ui/badge.js';
import { Confirm } from '../ui/confirm.js';
import { Empty } from '../ui/empty.js';
import type { NameValues } from '../ui/name-form.js';
import { EditNames } from '../ui/name-form.js';
import { Page } from '../ui/page.js';
import { type Column, Table } from '../ui/table.js';
import { AttributeActions, NewAttribute, type SchemaRef } from './attribute-dialogs.js';

export function SchemaPage() {
  const ref = useParams({ from: '/worlds/$world/schemas/$schema' });
  const orrery = useOrrery();
  const query = useQuery(schemaQuery(orrery, ref.world, ref.schema));
  const { data: world } = useQuery(worldQuery(orrery, ref.world));
  const canEdit = world !== undefined && isOwn(world);
  return (
    <Await query={query} what="the schema">
      {(schema) => (
        <Page
          title={schema.name}
          lead={schema.description}
          beside={<Badge>entity schema</Badge>}
          actions={canEdit && <SchemaActions record={schema} {...ref} />}
        >
          <Attributes record={schema} canEdit={canEdit} {...ref} />
        </Page>
      )}
    </Await>
  );
}

function Attributes({ record, canEdit, ...ref }: SchemaRef & { record: EntitySchema; canEdit: boolean }) {
  if (record.attributes.length === 0)
    return (
      <Empty title="It has no attributes yet." action={canEdit && <NewAttribute {...ref} />}>
        An attribute has a type, a default and constraints. No execution can break them.
      </Empty>
    );
  const actions: Column<Attribute> = {
    key: 'actions',
    header: <span className="sr-only">Actions</span>,
    cell: (attribute) => <AttributeActions attribute={attribute} {...ref} />,
  };
  return (
    <Table
      label="Attributes"
      columns={canEdit ? [...COLUMNS, actions] : COLUMNS}
      rows={record.attributes}
      rowKey={({ id }) => id}
    />
  );
}

function SchemaActions({ record: { name, description }, ...ref }: SchemaRef & { record: EntitySchema }) {
  const path = { worldAddress: ref.world, schemaName: ref.schema };
  const navigate = useNavigate();
  const remove = useRemoval(
    (orrery) => orrery.delete('/api/worlds/{worldAddress}/entity-schemas/{schemaName}', { path }),
    () => navigate({ to: '/worlds/$world', params: ref }),
    [[...worldKey(ref.world), 'schemas']],
  );
  return (
    <>
      <NewAttribute {...ref} />
      <EditSchema values={{ name, description }} {...ref} />
      <Confirm verb="Delete" title={`Delete ${name}?`} onConfirm={remove}>
        Its attributes go with it. A schema that a version names, or that has instances, is not deleted.
      </Confirm>
    </>
  );
}

function EditSchema({ values, ...ref }: SchemaRef & { values: NameValues }) {
  const navigate = useNavigate();
  const save = useChange(
    (orrery, body: NameValues) =>
      orrery.put('/api/worlds/{worldAddress}/entity-schemas/{schemaName}', {
        path: { worldAddress: ref.world, schemaName: ref.schema },
        body,
      }),
    [[...worldKey(ref.world), 'schemas']],
  );
  return (
    <EditNames
      title="Edit the schema"
      values={values}
      hint="A schema that a version names, or that has instances, keeps its name."
      save={save}
      show={(name) =>
        navigate({
          to: '/worlds/$world/schemas/$schema',
          params: { world: ref.world, schema: name },
          ignoreBlocker: true,
        })
      }
    />
  );
}

const COLUMNS: readonly Column<Attribute>[] = [
  { key: 'name', header: 'Attribute', cell: ({ name }) => <span className="font-medium">{name}</span> },
  { key: 'type', header: 'Type', cell: ({ type }) => type },
  { key: 'rules', header: 'Rules', cell: (attribute) => <Rules attribute={attribute} /> },
  {
    key: 'default',
    header: 'Default',
    wideOnly: true,
    cell: ({ defaultValue }) =>
      defaultValue === null ? '–' : <code className="font-mono text-sm">{JSON.stringify(defaultValue)}</code>,
  },
];

function Rules({ attribute: { constraints } }: { attribute: Attribute }) {
  const { min, max, enum: words, pattern, required } = constraints ?? {};
  const rules = [
    min !== undefined && `≥ ${min}`,
    max !== undefined && `≤ ${max}`,
    words && `one of ${words.join(', ')}`,
    pattern && `matches ${pattern}`,
  ].filter(Boolean);
  if (rules.length === 0 && !required) return '–';
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      {required && <Badge tone="accent">required</Badge>}
      {rules.join(', ')}
    </span>
  );
}
