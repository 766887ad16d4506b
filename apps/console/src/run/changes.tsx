import type { JsonObject } from '@orrery/sdk';
import { splitKey } from '../api/deployments.js';
import { classes } from '../ui/classes.js';
import { Diff } from '../ui/lazily.js';
import { Badge, type Tone } from '../ui/values.js';

export interface ChangeTableProps {
  stateChanges: Parameters<typeof changedInstances>[0];
  before: StatesBefore;
}

export function ChangeTable({ stateChanges, before }: ChangeTableProps) {
  const instances = changedInstances(stateChanges, before);
  if (instances.length === 0) return <p className="text-muted">It changes no instance.</p>;
  return (
    <div className="grid grid-cols-1 gap-3">
      {instances.map((instance) => (
        <InstanceChanges key={instance.key} instance={instance} />
      ))}
    </div>
  );
}

const WORDS = { create: 'created', update: 'changed', delete: 'deleted' };
const TONES: Record<ChangedInstance['op'], Tone> = { create: 'ok', update: 'accent', delete: 'bad' };
const CELL = 'border-t border-line px-3 py-1.5 align-top';

const InstanceChanges = ({
  instance: { key, entitySchema, instanceId, op, rows },
}: {
  instance: ChangedInstance;
}) => (
  <table className="w-full table-fixed border-separate border-spacing-0 overflow-hidden rounded-md border border-line bg-surface text-left">
    <caption className="sr-only">Changes of {key}</caption>
    <thead>
      <tr>
        <th scope="col" className="w-[34%] px-3 py-1.5 font-medium">
          <span className="text-muted">{entitySchema}:</span>
          {instanceId} <Badge tone={TONES[op]}>{WORDS[op]}</Badge>
        </th>
        <th scope="col" className="px-3 py-1.5 text-xs font-semibold text-muted">
          before
        </th>
        <th scope="col" className="px-3 py-1.5 text-xs font-semibold text-muted">
          after
        </th>
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <Row key={row.attribute} row={row} />
      ))}
    </tbody>
  </table>
);

function Row({ row: { attribute, before, after, delta, isChanged } }: { row: ChangeRow }) {
  return (
    <tr className={isChanged ? undefined : 'text-muted'}>
      <th scope="row" className={`${CELL} font-mono text-sm font-normal`}>
        {attribute}
      </th>
      {isLarge(before) && isLarge(after) ? (
        <td colSpan={2} className={CELL}>
          <Diff label={`Change of ${attribute}`} left={before} right={after} onlyChanges />
        </td>
      ) : (
        <>
          <td className={classes(CELL, isChanged && 'bg-bad-soft/60')}>
            <Value value={before} />
          </td>
          <td className={classes(CELL, isChanged && 'bg-ok-soft/60')}>
            <Value value={after} />{' '}
            {delta !== undefined && (
              <span className="ml-1 text-xs text-muted">{delta > 0 ? `+${delta}` : `−${-delta}`}</span>
            )}
          </td>
        </>
      )}
    </tr>
  );
}

/** From this many characters on, a list or an object is compared line by line. */
const LARGE = 60;
const isLarge = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && JSON.stringify(value).length > LARGE;

const Value = ({ value }: { value: unknown }) =>
  value === undefined ? (
    <span className="text-muted">–</span>
  ) : (
    <code className="font-mono text-sm whitespace-pre-wrap">{JSON.stringify(value)}</code>
  );

/** The attributes of one instance that an execution changes, with what they were. */
export interface ChangedInstance {
  readonly key: string;
  readonly entitySchema: string;
  readonly instanceId: string;
  readonly op: 'create' | 'update' | 'delete';
  readonly rows: readonly ChangeRow[];
}
export interface ChangeRow {
  readonly attribute: string;
  /** `undefined`: the attribute was, or is, not there. */
  readonly before: unknown;
  readonly after: unknown;
  /** False where the value is set to what it was. */
  readonly isChanged: boolean;
  readonly delta?: number;
}

/** States before an execution, by `schema:instanceId`; null where there was no such instance. */
export type StatesBefore = ReadonlyMap<string, JsonObject | null>;

/**
 * What an answer's `stateChanges` change, next to the states before. An instance whose state before is not known has
 * the new values alone.
 */
export function changedInstances(
  stateChanges: Readonly<Record<string, JsonObject | null>>,
  before: StatesBefore,
): ChangedInstance[] {
  return Object.entries(stateChanges).map(([key, after]) => {
    const { entitySchema, instanceId } = splitKey(key);
    const state = before.get(key);
    const op = after === null ? 'delete' : state === null ? 'create' : 'update';
    return { key, entitySchema, instanceId, op, rows: rowsOf(state ?? {}, after) };
  });
}

function rowsOf(before: JsonObject, after: JsonObject | null): ChangeRow[] {
  const names = Object.keys(after ?? before);
  return names.map((attribute) => {
    const [from, to] = [before[attribute], after === null ? undefined : after[attribute]];
    const isChanged = JSON.stringify(from) !== JSON.stringify(to);
    const isMoved = isChanged && typeof from === 'number' && typeof to === 'number';
    return { attribute, before: from, after: to, isChanged, ...(isMoved && { delta: difference(from, to) }) };
  });
}

/** Without the digits that binary fractions add: 0.3 - 0.1 is 0.2. */
const difference = (from: number, to: number): number => Number((to - from).toPrecision(12));
