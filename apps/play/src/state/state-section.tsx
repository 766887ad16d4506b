import { useEffect, useMemo, useState } from 'preact/hooks';
import { Name, numberText } from '../ui/parts.js';
import type { OpenWorld, WorldStore } from '../world/follow-world.js';
import { isWhole, type Row, type Rows } from '../world/records.js';
import { columnsOf, type Order, ordered, orderText } from './columns.js';
import { InstanceDetails } from './instance-details.js';
import { InstanceTable } from './instance-table.js';
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
      <h2 id="state">{world.connection.state === 'past' ? 'How it was' : 'How it is'}</h2>
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
/** A search looks at the server's instances again after so long, while entries come. */
const SEARCH_AGAIN_MS = 3000;
const TYPED_MS = 300;

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
    if (isSearching) return found;
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
    opened === undefined ? undefined : (rows.rows.get(opened) ?? found?.find(({ id }) => id === opened));
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
        rows={shown ?? []}
        isReading={shown === undefined}
        columns={columns}
        order={order}
        onOrder={setOrder}
        onOpen={setOpened}
        schema={schema}
      />
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

interface SearchProps extends StateProps {
  readonly schema: string;
  readonly find: string;
  readonly order: Order | undefined;
  readonly isSearching: boolean;
}

/** What the server finds; again while entries come, but not at each. Undefined: it is searched for the first time. */
function useSearch({
  schema,
  find,
  order,
  world,
  store,
  isSearching,
}: SearchProps): readonly Row[] | undefined {
  const [found, setFound] = useState<readonly Row[]>();
  const orderBy = order === undefined ? '' : orderText(order);
  const epoch = useEpoch(world.seq);
  useEffect(() => {
    if (!isSearching) return setFound(undefined);
    const leaving = new AbortController();
    const timer = setTimeout(() => {
      store.search(schema, { find, orderBy }, leaving.signal).then(setFound, () => undefined);
    }, TYPED_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [schema, find, orderBy, isSearching, epoch, store]);
  return found;
}

/** Changes with `seq`, some time later and not more often than a search is made again. */
function useEpoch(seq: number): number {
  const [epoch, setEpoch] = useState(seq);
  const isBehind = epoch !== seq;
  useEffect(() => {
    if (!isBehind) return;
    // Not put off by each entry that comes meanwhile.
    const timer = setTimeout(() => setEpoch(seq), SEARCH_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [epoch, isBehind]);
  return epoch;
}
