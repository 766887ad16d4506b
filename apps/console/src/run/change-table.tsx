import { classes } from '../ui/classes.js';
import { Diff } from '../ui/lazily.js';
import { Badge, type Tone } from '../ui/values.js';
import { type ChangedInstance, type ChangeRow, changedInstances, type StatesBefore } from './change-rows.js';

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
        <th scope="col" className="w-[34%] px-3 py-1.5 font-medium break-words">
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
      <th scope="row" className={`${CELL} font-mono text-sm font-normal break-words`}>
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
    <code className="font-mono text-sm break-words whitespace-pre-wrap">{JSON.stringify(value)}</code>
  );
