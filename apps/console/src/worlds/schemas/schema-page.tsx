import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { Attribute } from '../../api/records.js';
import { schemaQuery } from '../../api/schemas.js';
import { useOrrery } from '../../session/use-session.js';
import { Await } from '../../ui/await.js';
import { Badge } from '../../ui/badge.js';
import { Page } from '../../ui/page.js';
import { type Column, Table } from '../../ui/table.js';

export function SchemaPage() {
  const { world, schema } = useParams({ from: '/worlds/$world/schemas/$schema' });
  const query = useQuery(schemaQuery(useOrrery(), world, schema));
  return (
    <Await query={query} what="the schema">
      {({ name, description, attributes }) => (
        <Page title={name} lead={description} beside={<Badge>entity schema</Badge>}>
          <Table label="Attributes" columns={COLUMNS} rows={attributes} rowKey={({ id }) => id} />
        </Page>
      )}
    </Await>
  );
}

const COLUMNS: readonly Column<Attribute>[] = [
  { key: 'name', header: 'Attribute', cell: ({ name }) => <span className="font-medium">{name}</span> },
  { key: 'type', header: 'Type', cell: ({ type }) => type },
  {
    key: 'default',
    header: 'Default',
    cell: ({ defaultValue }) => <code className="font-mono text-sm">{JSON.stringify(defaultValue)}</code>,
  },
];
