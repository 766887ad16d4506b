import { useNavigate, useParams } from '@tanstack/react-router';
import type { Attribute, EntitySchema } from '../api/records.js';
import { useChange, useRemoval } from '../api/use-change.js';
import { isOwn, SCHEMAS, schemasKey, useSchema, useWorld } from '../api/worlds.js';
import { Confirm } from '../ui/dialog.js';
import { Await } from '../ui/messages.js';
import { Empty, Page } from '../ui/page.js';
import { NameButton, type NameValues } from '../ui/save-form.js';
import { actionsColumn, type Column, Table } from '../ui/table.js';
import { Badge } from '../ui/values.js';
import { EditAttribute, NewAttribute, type SchemaRef } from './attribute-form.js';

export default function SchemaPage() {
  const ref = useParams({ from: '/worlds/$world/schemas/$schema' });
  const canEdit = isOwn(useWorld(ref.world).data);
  return (
    <Await query={useSchema(ref.world, ref.schema)} what="the schema">
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
  const actions = actionsColumn<Attribute>((attribute) => (
    <AttributeActions attribute={attribute} {...ref} />
  ));
  return (
    <Table
      label="Attributes"
      columns={canEdit ? [...COLUMNS, actions] : COLUMNS}
      rows={record.attributes}
      rowKey={({ id }) => id}
    />
  );
}

function AttributeActions({ attribute, ...ref }: SchemaRef & { attribute: Attribute }) {
  const path = { worldAddress: ref.world, schemaName: ref.schema, name: attribute.name };
  const remove = useChange(
    (orrery) => orrery.delete(`${SCHEMAS}/{schemaName}/attributes/{name}`, { path }),
    [schemasKey(ref.world)],
  );
  return (
    <span className="flex justify-end gap-1">
      <EditAttribute attribute={attribute} {...ref} />
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

function SchemaActions({ record: { name, description }, ...ref }: SchemaRef & { record: EntitySchema }) {
  const path = { worldAddress: ref.world, schemaName: ref.schema };
  const keys = [schemasKey(ref.world)];
  const navigate = useNavigate();
  const save = useChange(
    (orrery, body: NameValues) => orrery.put(`${SCHEMAS}/{schemaName}`, { path, body }),
    keys,
  );
  const remove = useRemoval(
    (orrery) => orrery.delete(`${SCHEMAS}/{schemaName}`, { path }),
    () => navigate({ to: '/worlds/$world', params: ref }),
    keys,
  );
  return (
    <>
      <NewAttribute {...ref} />
      <NameButton
        title="Edit the schema"
        values={{ name, description }}
        hint="A schema that a version names, or that has instances, keeps its name."
        save={save}
        show={(schema) =>
          navigate({
            to: '/worlds/$world/schemas/$schema',
            params: { world: ref.world, schema },
            ignoreBlocker: true,
          })
        }
      />
      <Confirm verb="Delete" title={`Delete ${name}?`} onConfirm={remove}>
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
