import { useNavigate } from '@tanstack/react-router';
import type { EntitySchema } from '../api/records.js';
import { useChange } from '../api/use-change.js';
import { SCHEMAS, schemasKey, useSchemas } from '../api/worlds.js';
import { NameLink } from '../ui/button.js';
import { FormButton } from '../ui/dialog.js';
import { CHANGED, ListSection } from '../ui/listing.js';
import { NameForm, type NameValues } from '../ui/save-form.js';
import type { Column } from '../ui/table.js';

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
            {(close) => <NewSchema world={world} onClose={close} />}
          </FormButton>
        )
      }
      empty="There is nothing in this world yet."
    >
      A schema is a kind of entity, such as a horse, with attributes, their types and their constraints.
    </ListSection>
  );
}

function NewSchema({ world, onClose }: { world: string; onClose: () => void }) {
  const navigate = useNavigate();
  const create = useChange(
    (orrery, { name, description }: NameValues) =>
      orrery.post(SCHEMAS, {
        path: { worldAddress: world },
        body: { name, ...(description !== null && { description }) },
      }),
    [schemasKey(world)],
  );
  const show = (schema: string) =>
    navigate({ to: '/worlds/$world/schemas/$schema', params: { world, schema }, ignoreBlocker: true });
  const hint = 'Such as horse. Its attributes come next.';
  return <NameForm verb="Create" hint={hint} save={create} show={show} onClose={onClose} />;
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
