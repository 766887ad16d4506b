import { useNavigate } from '@tanstack/react-router';
import { useChange } from '../api/change.js';
import { useGuard } from '../api/guard.js';
import { keyOf } from '../api/read.js';
import type { EntitySchema } from '../api/records.js';
import { SCHEMA, SCHEMAS, useSchemas } from '../api/worlds.js';
import { NameLink } from '../ui/button.js';
import { FormButton } from '../ui/dialog.js';
import { type NameTexts, nameSpecs, TextForm } from '../ui/save-form.js';
import type { Column } from '../ui/table.js';
import { CHANGED, ListSection } from '../ui/table.js';

export function SchemaList({ world, isOwn }: { world: string; isOwn: boolean }) {
  const query = useSchemas(world);
  const isFirst = query.data?.data.length === 0;
  return (
    <ListSection
      query={query}
      what="entity schemas"
      lead="What there is: kinds of entities and their attributes."
      columns={columnsOf(world)}
      rowKey={({ name }) => name}
      nameOf={({ name }) => name}
      create={
        isOwn && (
          <FormButton verb="New schema" title="New entity schema" look={isFirst ? 'primary' : 'secondary'}>
            {(close) => <SchemaForm world={world} onClose={close} />}
          </FormButton>
        )
      }
      empty="There is nothing in this world yet."
    >
      A schema is a kind of entity, such as a horse, with attributes, their types and their constraints.
    </ListSection>
  );
}

interface SchemaFormProps {
  world: string;
  /** What is edited; without it a schema is made. */
  record?: EntitySchema;
  onClose: () => void;
}

export function SchemaForm({ world, record, onClose }: SchemaFormProps) {
  const navigate = useNavigate();
  const path = { worldAddress: world };
  const own = { ...path, schemaName: record?.name ?? '' };
  const guard = useGuard(SCHEMA, own);
  const save = useChange(
    (orrery, body: NameTexts, once) =>
      record === undefined
        ? orrery.post(SCHEMAS, once({ path, body }))
        : orrery.put(SCHEMA, { path: own, headers: guard.headers(), body }),
    [keyOf(SCHEMAS, path)],
    ({ name }) => {
      onClose();
      const params = { world, schema: name };
      return navigate({ to: '/worlds/$world/schemas/$schema', params, ignoreBlocker: true });
    },
  );
  const hint =
    record === undefined
      ? 'Such as horse. Its attributes come next.'
      : 'A schema that a version names, or that has instances, keeps its name.';
  const verb = record === undefined ? 'Create' : 'Save';
  const form = { values: record && { ...record }, guard, save, verb, cancel: onClose };
  return <TextForm specs={nameSpecs(hint)} {...form} />;
}

const columnsOf = (world: string): readonly Column<EntitySchema>[] => [
  {
    header: 'Name',
    cell: ({ name, description }) => (
      <NameLink words={description} to="/worlds/$world/schemas/$schema" params={{ world, schema: name }}>
        {name}
      </NameLink>
    ),
  },
  {
    header: 'Attributes',
    cell: ({ attributes }) => attributes.map(({ name }) => name).join(', ') || '–',
  },
  CHANGED,
];
