import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { EntitySchema } from '../api/records.js';
import { useSchemas } from '../api/worlds.js';
import { useOrrery } from '../session/session.js';
import { Await } from '../ui/messages.js';
import { Empty, Section } from '../ui/page.js';
import { columnsOf } from './columns.js';
import { InstancesTable } from './instances-table.js';
import { toggled, useLiveSearch } from './live-search.js';
import { NewInstance } from './new-instance.js';
import { instancesQuery } from './queries.js';
import type { PartProps } from './tail.js';

const FIRST = { firstPage: 1, lastPage: 1 };

export function Instances({ deployment, seq, tail: { head } }: PartProps) {
  const orrery = useOrrery();
  const [{ schema, plot }, change] = useLiveSearch();
  const [pages, setPages] = useState(FIRST);
  const query = useQuery(instancesQuery(orrery, deployment, { seq, schema, ...pages }));
  const schemas = useSchemas(deployment.world).data?.data ?? [];
  const rows = query.data?.rows;
  const one = schema ?? onlySchema(schemas);
  const attributes = schemas.find(({ name }) => name === one)?.attributes;
  const columns = useMemo(
    () => (one === undefined ? undefined : columnsOf(attributes ?? [], rows ?? [])),
    [one, attributes, rows],
  );
  const total = query.data?.total;
  return (
    <Section
      title="Instances"
      lead={total === undefined ? undefined : `${total.toLocaleString('en')} after entry ${seq}`}
      actions={
        <>
          <SchemaChoice
            schemas={schemas}
            schema={schema}
            onChange={(next) => {
              setPages(FIRST);
              void change({ schema: next });
            }}
          />
          {seq >= head && <NewInstance deployment={deployment} schemas={schemas} schema={schema} />}
        </>
      }
      className="mb-0"
    >
      <Await query={query} what="the instances">
        {(seen) =>
          seen.total === 0 ? (
            <Empty title={noneOf(schema, seq >= head)}>
              Instances are created by hand, and by events that change one that does not exist yet.
            </Empty>
          ) : (
            <InstancesTable
              key={schema ?? ''}
              seen={seen}
              columns={columns}
              plotted={plot}
              isOld={query.isPlaceholderData}
              onPages={setPages}
              onPick={(instance) => void change({ instance })}
              onPlot={(instance) => void change({ plot: toggled(plot, instance) })}
            />
          )
        }
      </Await>
    </Section>
  );
}

/** A world of one schema needs no choice. */
const onlySchema = (schemas: readonly EntitySchema[]): string | undefined =>
  schemas.length === 1 ? schemas[0]?.name : undefined;

const noneOf = (schema: string | undefined, isNow: boolean): string =>
  `There ${isNow ? 'is' : 'was'} no ${schema ?? 'instance'}${isNow ? ' yet' : ''}.`;

interface SchemaChoiceProps {
  schemas: readonly EntitySchema[];
  schema: string | undefined;
  onChange: (schema: string | undefined) => void;
}

/** One of the schemas, or all. One that the address names stays in the list, also where it does not exist. */
function SchemaChoice({ schemas, schema, onChange }: SchemaChoiceProps) {
  const names = [...new Set([...schemas.map(({ name }) => name), ...(schema === undefined ? [] : [schema])])];
  return (
    <label className="flex items-center gap-2 text-sm text-muted">
      Schema
      <select
        className="control w-auto py-1"
        value={schema ?? ''}
        onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
      >
        <option value="">all</option>
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}
