import type { EntityInstance } from '@orrery/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { instanceKey, useDeploymentRef } from '../api/deployments.js';
import type { Attribute, EntitySchema } from '../api/records.js';
import { useSchemas } from '../api/worlds.js';
import { classes, SCROLLABLE } from '../ui/classes.js';
import { named, Select } from '../ui/field.js';
import { Await } from '../ui/messages.js';
import { Empty, Section } from '../ui/page.js';
import { Gap, useSeenRows } from '../ui/table.js';
import { shownValue } from './entry-words.js';
import { useLive } from './live.js';
import { toggled, useLiveSearch } from './live-search.js';
import { NewInstance } from './new-instance.js';
import { offsetOf, PAGE, type SeenInstances } from './seen-instances.js';

const FIRST = { firstPage: 1, lastPage: 1 };

export function Instances() {
  const { journal, seq, tail } = useLive();
  const isNow = seq >= tail.head;
  const [{ schema }, change] = useLiveSearch();
  const [pages, setPages] = useState(FIRST);
  const client = useQueryClient();
  const present = () => client.getQueryData(journal.tail.queryKey);
  const past = useQuery({ ...journal.pastInstances(seq, { schema, ...pages }), enabled: !isNow });
  const now = useQuery({ ...journal.presentInstances(present, { schema, ...pages }), enabled: isNow });
  const query = isNow ? now : past;
  const schemas = useSchemas(useDeploymentRef().world).data?.data ?? [];
  // One that the address names stays in the list, also where it does not exist.
  const names = new Set([...schemas.map(({ name }) => name), ...(schema === undefined ? [] : [schema])]);
  const rows = query.data?.rows;
  const one = schema ?? onlySchema(schemas);
  const attributes = schemas.find(({ name }) => name === one)?.attributes;
  const columns = useMemo(
    () => (one === undefined ? undefined : columnsOf(attributes ?? [], rows ?? [])),
    [one, attributes, rows],
  );
  return (
    <Section
      title="Instances"
      lead={query.data && `${query.data.total.toLocaleString('en')} after entry ${query.data.seq}`}
      actions={
        <>
          {/* biome-ignore lint/a11y/noLabelWithoutControl: the control is a Select */}
          <label className="flex items-center gap-2 text-sm text-muted">
            Schema
            <Select
              className="control w-auto max-w-60 py-1"
              value={schema ?? ''}
              onChange={(next) => {
                setPages(FIRST);
                void change({ schema: next || undefined });
              }}
              options={[['', 'all'], ...named(names)]}
            />
          </label>
          {isNow && <NewInstance schemas={schemas} schema={schema} />}
        </>
      }
      className="mb-0"
    >
      <Await query={query} what="the instances">
        {(seen) =>
          seen.total === 0 ? (
            <Empty title={noneOf(schema, isNow)}>
              Instances are created by hand, and by events that change one that does not exist yet.
            </Empty>
          ) : (
            <InstancesTable
              key={schema ?? ''}
              seen={seen}
              columns={columns}
              isOld={query.isPlaceholderData}
              onPages={setPages}
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

interface InstancesTableProps {
  seen: SeenInstances;
  /** The attributes; undefined where the instances have different schemas. */
  columns: readonly Column[] | undefined;
  /** Whether another position is being read, so that `seen` is of the one before. */
  isOld: boolean;
  /** Says which pages are in view. */
  onPages: (pages: { firstPage: number; lastPage: number }) => void;
}

const ROW_HEIGHT = 33;
const HEAD =
  'sticky top-0 z-1 border-b border-line bg-surface px-2.5 py-1.5 text-xs font-semibold whitespace-nowrap text-muted';
const CELL = 'border-b border-line px-2.5 py-1.5 whitespace-nowrap';

/** Any number of instances, of which those that are seen are read. A value that has changed lights up. */
function InstancesTable({ seen, columns, isOld, onPages }: InstancesTableProps) {
  const [region, setRegion] = useState<HTMLElement | null>(null);
  const items = useSeenRows(region, seen.total, ROW_HEIGHT);
  const firstPage = pageOf(items.indexes[0]);
  const lastPage = pageOf(items.indexes.at(-1));
  useEffect(() => onPages({ firstPage, lastPage }), [onPages, firstPage, lastPage]);
  return (
    <section
      ref={setRegion}
      aria-label="Instances"
      aria-busy={isOld}
      {...SCROLLABLE}
      className="relative max-h-130 overflow-auto rounded-lg border border-line bg-surface"
    >
      <table className="w-full border-separate border-spacing-0 text-left" aria-rowcount={seen.total + 1}>
        <thead>
          <tr>
            <th scope="col" className={`${HEAD} w-8`}>
              <span className="sr-only">In the chart</span>
            </th>
            <th scope="col" className={HEAD}>
              Instance
            </th>
            {columns?.map(({ name, isNumeric }) => (
              <th key={name} scope="col" className={classes(HEAD, isNumeric && 'text-right')}>
                {name}
              </th>
            )) ?? (
              <th scope="col" className={HEAD}>
                State
              </th>
            )}
            <th scope="col" className={`${HEAD} text-right`}>
              Revision
            </th>
          </tr>
        </thead>
        <tbody>
          <Gap height={items.above} />
          {items.indexes.map((index) => (
            <Row
              key={rowKey(seen, index)}
              columns={columns}
              index={index}
              row={seen.rows[index - offsetOf(seen)]}
            />
          ))}
          <Gap height={items.below} />
        </tbody>
      </table>
    </section>
  );
}

const pageOf = (index = 0): number => Math.floor(index / PAGE) + 1;

const rowKey = (seen: SeenInstances, index: number): string | number => {
  const row = seen.rows[index - offsetOf(seen)];
  return row === undefined ? index : instanceKey(row);
};

interface RowProps extends Pick<InstancesTableProps, 'columns'> {
  index: number;
  /** Undefined while it is read. */
  row: EntityInstance | undefined;
}

function Row({ index, row, columns }: RowProps) {
  const [{ plot }, change] = useLiveSearch();
  if (row === undefined)
    return (
      <tr aria-rowindex={index + 2} style={{ height: ROW_HEIGHT }}>
        <td colSpan={99} className={`${CELL} text-muted`}>
          …
        </td>
      </tr>
    );
  const instance = instanceKey(row);
  return (
    <tr aria-rowindex={index + 2} className="hover:bg-hover">
      <td className={`${CELL} w-8`}>
        <input
          type="checkbox"
          aria-label={`Draw ${instance}`}
          className="block size-3.5 accent-accent"
          checked={plot?.includes(instance) ?? false}
          onChange={() => void change({ plot: toggled(plot, instance) })}
        />
      </td>
      <th scope="row" className={`${CELL} max-w-60 truncate text-left font-medium`} title={instance}>
        {columns === undefined && <span className="font-normal text-muted">{row.entitySchema}:</span>}
        <button
          type="button"
          className="-my-1.5 py-1.5 hover:underline"
          title={`Show what changed ${instance}`}
          onClick={() => void change({ instance })}
        >
          {row.instanceId}
        </button>
      </th>
      {columns?.map(({ name, isNumeric }) => (
        <td key={name} className={classes(CELL, 'max-w-64 truncate', isNumeric && 'text-right')}>
          <Value text={shownValue(row.state[name])} />
        </td>
      )) ?? (
        // What the others leave, so that the revision is always in view.
        <td className={`${CELL} w-full max-w-0 min-w-40 truncate font-mono text-sm`}>
          <Value text={summaryOf(row)} />
        </td>
      )}
      <td className={`${CELL} text-right text-muted`}>
        <Value text={String(row.revision)} />
      </td>
    </tr>
  );
}

/** Lights up when it becomes another text, not when the row appears. */
function Value({ text }: { text: string }) {
  const first = useRef(text);
  return (
    <span key={text} title={text} className={classes(first.current !== text && 'changed')}>
      {text}
    </span>
  );
}

export interface AttributeType {
  readonly name: string;
  readonly type: Attribute['type'];
}

export interface Column {
  readonly name: string;
  readonly isNumeric: boolean;
}

/** Columns beyond these make no table; the state of an instance shows the rest. */
export const MAX_COLUMNS = 12;

/** The attributes of the schema in their order, then others that instances have, by name. */
export function columnsOf(
  attributes: readonly AttributeType[],
  shown: readonly EntityInstance[],
  most = MAX_COLUMNS,
): Column[] {
  const columns = new Map(
    attributes.map(({ name, type }) => [name, { name, isNumeric: type === 'integer' || type === 'float' }]),
  );
  const others = new Set(
    shown.flatMap(({ state }) => Object.keys(state)).filter((name) => !columns.has(name)),
  );
  for (const name of [...others].sort()) columns.set(name, { name, isNumeric: isNumeric(name, shown) });
  return [...columns.values()].slice(0, most);
}

function isNumeric(name: string, shown: readonly EntityInstance[]): boolean {
  const values = shown
    .map(({ state }) => state[name])
    .filter((value) => value !== undefined && value !== null);
  return values.length > 0 && values.every((value) => typeof value === 'number');
}

/** Instances of several schemas have no columns in common: their state in one line. */
export const summaryOf = ({ state }: EntityInstance): string =>
  Object.entries(state)
    .map(([name, value]) => `${name} ${shownValue(value)}`)
    .join(' · ');
