import { useNavigate, useParams } from '@tanstack/react-router';
import { useChange, useRemoval } from '../api/change.js';
import { keyOf, useGet } from '../api/read.js';
import type { Attribute, EntitySchema } from '../api/records.js';
import { isOwn, SCHEMA, SCHEMAS, useWorld } from '../api/worlds.js';
import { AwaitPage } from '../ui/await-page.js';
import { Confirm, FormButton } from '../ui/dialog.js';
import { Empty, Page } from '../ui/page.js';
import { actionsColumn, type Column, Table } from '../ui/table.js';
import { Badge } from '../ui/values.js';
import { ATTRIBUTE, AttributeButton, type SchemaRef, schemaPath } from './attribute-form.js';
import { FollowingStates } from './following-states.js';
import { SchemaForm } from './schema-list.js';

export default function SchemaPage() {
  const ref = useParams({ from: '/worlds/$world/schemas/$schema' });
  const canEdit = isOwn(useWorld(ref.world).data);
  return (
    <AwaitPage query={useGet(SCHEMA, { path: schemaPath(ref) })} what="entity schema">
      {(schema) => (
        <Page
          title={schema.name}
          lead={schema.description}
          beside={<Badge>entity schema</Badge>}
          actions={canEdit && <SchemaActions record={schema} {...ref} />}
        >
          <Attributes record={schema} canEdit={canEdit} {...ref} />
          {canEdit && schema.attributes.length > 0 && <FollowingStates {...ref} />}
        </Page>
      )}
    </AwaitPage>
  );
}

function Attributes({ record, canEdit, ...ref }: SchemaRef & { record: EntitySchema; canEdit: boolean }) {
  if (record.attributes.length === 0)
    return (
      <Empty title="It has no attributes yet." action={canEdit && <AttributeButton {...ref} />}>
        An attribute has a type, a default and constraints. No execution can break them.
      </Empty>
    );
  const actions = actionsColumn<Attribute>((attribute) => (
    <AttributeActions attribute={attribute} {...ref} />
  ));
  return (
    <div className="mb-7">
      <Table
        label="Attributes"
        columns={canEdit ? [...COLUMNS, actions] : COLUMNS}
        rows={record.attributes}
        rowKey={({ id }) => id}
      />
    </div>
  );
}

function AttributeActions({ attribute, ...ref }: SchemaRef & { attribute: Attribute }) {
  const path = { ...schemaPath(ref), name: attribute.name };
  const remove = useChange((orrery) => orrery.delete(ATTRIBUTE, { path }), [keyOf(SCHEMAS, path)]);
  return (
    <span className="flex justify-end gap-1">
      <AttributeButton attribute={attribute} {...ref} />
      <Confirm
        verb="Delete"
        size="small"
        title={`Delete ${attribute.name}?`}
        onConfirm={() => remove.mutateAsync()}
      >
        Stored states keep their values; nothing checks them any more.
      </Confirm>
    </span>
  );
}

function SchemaActions({ record, ...ref }: SchemaRef & { record: EntitySchema }) {
  const navigate = useNavigate();
  const remove = useRemoval(
    (orrery) => orrery.delete(SCHEMA, { path: schemaPath(ref) }),
    () => navigate({ to: '/worlds/$world', params: ref }),
    [keyOf(SCHEMAS, schemaPath(ref))],
  );
  return (
    <>
      {/* An empty list offers it by itself. */}
      {record.attributes.length > 0 && <AttributeButton {...ref} />}
      <FormButton verb="Edit" title="Edit the schema">
        {(close) => <SchemaForm world={ref.world} record={record} onClose={close} />}
      </FormButton>
      <Confirm verb="Delete" title={`Delete ${record.name}?`} onConfirm={remove}>
        Its attributes go with it. A schema that a version names, or that has instances, is not deleted.
      </Confirm>
    </>
  );
}

const COLUMNS: readonly Column<Attribute>[] = [
  { header: 'Attribute', cell: ({ name }) => <span className="font-medium">{name}</span> },
  { header: 'Type', cell: ({ type }) => type },
  { header: 'Rules', cell: (attribute) => <Rules attribute={attribute} /> },
  {
    header: 'Default',
    wideOnly: true,
    cell: ({ defaultValue }) =>
      defaultValue === null ? '–' : <code className="font-mono text-sm">{JSON.stringify(defaultValue)}</code>,
  },
];

function Rules({ attribute: { constraints, indexed } }: { attribute: Attribute }) {
  const { min, max, enum: words, pattern, required } = constraints ?? {};
  const rules = [
    min !== undefined && `≥ ${min}`,
    max !== undefined && `≤ ${max}`,
    words && `one of ${words.join(', ')}`,
    pattern && `matches ${pattern}`,
  ].filter(Boolean);
  if (rules.length === 0 && !required && !indexed) return '–';
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      {required && <Badge tone="accent">required</Badge>}
      {indexed && <Badge>indexed</Badge>}
      {rules.join(', ')}
    </span>
  );
}
