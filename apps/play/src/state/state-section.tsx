import { useEffect, useMemo, useState } from 'preact/hooks';
import { Name, Notice, numberText } from '../ui/parts.js';
import type { OpenWorld, WorldStore } from '../world/follow-world.js';
import { isWhole, type Rows } from '../world/records.js';
import { columnsOf, type Order, ordered } from './columns.js';
import { InstanceDetails } from './instance-details.js';
import { InstanceTable } from './instance-table.js';
import { useSearch } from './search.js';
import { trendOf } from './trend.js';
import { TrendChart } from './trend-chart.js';

interface StateProps {
  readonly world: OpenWorld;
  readonly store: WorldStore;
}

/** The entities of the world: one table for each schema, with the chart of a number. */
export function StateSection({ world, store }: StateProps) {
  const [chosen, setChosen] = useState<string>();
  const { schemas, loaded } = world;
  // What was read first is what one sees first.
  const [first = schemas[0]] = loaded.keys();
  const schema = chosen !== undefined && schemas.includes(chosen) ? chosen : first;
  useEffect(() => {
    if (schema !== undefined) store.load(schema);
  }, [schema, store, loaded]);
  const rows = schema === undefined ? undefined : loaded.get(schema);
  return (
    <section class="card" aria-labelledby="state">
      <h2 id="state">{world.moment !== undefined ? 'How it was' : 'How it is'}</h2>
      {schemas.length > 1 && <SchemaChoice schemas={schemas} chosen={schema} onChoose={setChosen} />}
      {schema === undefined && (
        <p class="empty">Nobody and nothing is in this world yet. What comes will appear here.</p>
      )}
      {schema !== undefined && rows === undefined && <p class="empty">Reading…</p>}
      {schema !== undefined && rows !== undefined && (
        <SchemaRows key={schema} schema={schema} rows={rows} world={world} store={store} />
      )}
    </section>
  );
}

/** As many fit on a page as buttons. */
const MOST_BUTTONS = 6;

interface ChoiceProps {
  readonly schemas: readonly string[];
  readonly chosen: string | undefined;
  readonly onChoose: (schema: string) => void;
}

function SchemaChoice({ schemas, chosen, onChoose }: ChoiceProps) {
  if (schemas.length > MOST_BUTTONS)
    return (
      <label class="field">
        <span>Kind</span>
        <select value={chosen} onChange={(event) => onChoose(event.currentTarget.value)}>
          {schemas.map((schema) => (
            <option key={schema}>{schema}</option>
          ))}
        </select>
      </label>
    );
  return (
    <fieldset class="choice">
      <legend class="hidden">Kind</legend>
      {schemas.map((schema) => (
        <button key={schema} type="button" aria-pressed={schema === chosen} onClick={() => onChoose(schema)}>
          <Name>{schema}</Name>
        </button>
      ))}
    </fieldset>
  );
}

/** As many are seen at a glance. */
const FEW = 10;

function SchemaRows({ schema, rows, world, store }: StateProps & { schema: string; rows: Rows }) {
  const [find, setFind] = useState('');
  const [order, setOrder] = useState<Order>();
  const [opened, setOpened] = useState<string>();
  const isAll = isWhole(rows);
  const all = useMemo(() => [...rows.rows.values()], [rows]);
  const columns = useMemo(() => columnsOf(all), [all]);
  const isSearching = !isAll && (find !== '' || order !== undefined);
  const found = useSearch({ schema, find, order, world, store, isSearching });
  const shown = useMemo(() => {
    if (isSearching) return found.rows;
    const some = find === '' ? all : all.filter(({ id }) => id.includes(find));
    return order === undefined ? some : ordered(some, order);
  }, [all, isSearching, found, find, order]);
  const attribute = columns.find(
    ({ name, kind }) => kind === 'number' && (order?.name ?? name) === name,
  )?.name;
  const lines = useMemo(
    () =>
      attribute === undefined
        ? []
        : trendOf(world.entries, all, { schema, attribute, seq: world.seq }).filter(
            ({ points }) => points.length > 2,
          ),
    [world.entries, all, schema, attribute, world.seq],
  );
  const row =
    opened === undefined ? undefined : (rows.rows.get(opened) ?? found.rows?.find(({ id }) => id === opened));
  return (
    <>
      {lines.length > 0 && attribute !== undefined && <TrendChart lines={lines} attribute={attribute} />}
      <div class="tools">
        {rows.total > FEW && (
          <label class="field">
            <span>Find</span>
            <input type="search" value={find} onInput={(event) => setFind(event.currentTarget.value)} />
          </label>
        )}
        <p class="muted">
          {numberText(rows.total)}
          {rows.isMinimum ? ' or more' : ''} in all
        </p>
      </div>
      <InstanceTable
        rows={shown}
        isReading={shown === undefined && found.fault === undefined}
        columns={columns}
        order={order}
        onOrder={setOrder}
        onOpen={setOpened}
        schema={schema}
      />
      {isSearching && found.fault !== undefined && (
        <Notice tone="bad">This search did not work: {found.fault}</Notice>
      )}
      {isSearching && found.isCut && (
        <p class="muted">These are the first {numberText(found.rows?.length ?? 0)} that were found.</p>
      )}
      {!isAll && !isSearching && (
        <p class="muted">
          These are the first {numberText(rows.rows.size)}. Find others by their name, or order by a column.
        </p>
      )}
      {row !== undefined && (
        <InstanceDetails row={row} schema={schema} onClose={() => setOpened(undefined)} />
      )}
    </>
  );
}
