import type { components, EntityInstance } from '@orrery/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { instanceKey } from '../api/deployments.js';
import { JsonView } from '../ui/json-view.js';
import { Diff } from '../ui/lazily.js';
import { Await } from '../ui/messages.js';
import { Card, Details, Section } from '../ui/page.js';
import { Badge, CopyableCode, Time } from '../ui/values.js';
import { Again } from './again.js';
import { Consequences } from './consequences.js';
import { Beside, FailedCode, ModelOfEntry, useWholeEntry } from './entry-beside.js';
import { beginOf, callerOf, type JournalEntry, reasonOf, titleOf } from './entry-words.js';
import { useLive } from './live.js';
import { blockOf } from './queries.js';
import { RandomNumbers } from './random-numbers.js';

export function EntryPanel() {
  const { journal, tail, rested: seq } = useLive();
  const block = blockOf(Math.max(seq, 1));
  const query = useQuery(journal.entries(block, tail));
  const recent = tail.recent.find((entry) => entry.seq === seq);
  return (
    <Section title={`Entry ${seq}`} className="mb-0">
      {recent === undefined ? (
        <Await query={query} what="the entry">
          {(entries) => {
            const entry = entries.find((one) => one.seq === seq);
            return entry ? (
              <Entry entry={entry} />
            ) : (
              <p className="text-muted">The journal ends at {tail.head}.</p>
            );
          }}
        </Await>
      ) : (
        <Entry entry={recent} />
      )}
    </Section>
  );
}

function Entry({ entry }: { entry: JournalEntry }) {
  const { status, executedAt, trigger, error, input, result, hash, id } = entry;
  const whole = useWholeEntry(entry);
  return (
    <Card className="space-y-3">
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-semibold">{titleOf(entry)}</span>
        {status !== null && <Badge tone={status === 'failed' ? 'bad' : 'ok'}>{status}</Badge>}
        {trigger !== null && <Badge>{trigger}</Badge>}
      </p>
      {error !== null && (
        <div className="rounded-md border border-bad/40 bg-bad-soft px-3 py-2">
          <p>{reasonOf(error)}</p>
          <p className="mt-1 font-mono text-xs text-muted">{error.code}</p>
        </div>
      )}
      <FailedCode query={whole} />
      <Again entry={entry} />
      <Changes entry={entry} />
      <Consequences entry={entry} />
      <RandomNumbers entry={entry} />
      <Part title="Input" value={input} />
      {result !== null && <Part title="Result" value={result} />}
      <ModelOfEntry query={whole} />
      <Beside query={whole} />
      <Details
        items={{
          When: <Time at={executedAt} />,
          By: callerOf(entry),
          Hash: <CopyableCode text={hash} what="hash of the entry" short />,
          Id: <CopyableCode text={id} what="id of the entry" short />,
        }}
      />
    </Card>
  );
}

const Part = ({ title, value }: { title: string; value: unknown }): ReactNode => (
  <details open={JSON.stringify(value).length < 400}>
    <summary className="mb-1 text-sm font-medium text-muted">{title}</summary>
    <JsonView label={title} value={value} maxHeight={240} />
  </details>
);

/** Instances of one entry whose change is shown. */
const MOST_SHOWN = 10;

function Changes({ entry }: { entry: JournalEntry }) {
  const { changes, seq } = entry;
  const begin = beginOf(entry);
  if (begin !== undefined)
    return (
      <p className="text-muted">
        It begins with the instances of another deployment, as they were after entry {begin} there.
      </p>
    );
  // Only of an execution would one expect changes.
  if (changes.length === 0)
    return entry.kind === 'execution' && <p className="text-muted">It changed no instance.</p>;
  const left = changes.length - MOST_SHOWN;
  return (
    <ul className="space-y-2">
      {changes.slice(0, MOST_SHOWN).map((change) => (
        <li key={instanceKey(change)}>
          <Change change={change} seq={seq} />
        </li>
      ))}
      {left > 0 && <li className="text-muted">and {left} more instances</li>}
    </ul>
  );
}

const OPS = { create: 'created', update: 'changed', delete: 'deleted' };

function Change({ change, seq }: { change: InstanceChange; seq: number }) {
  const key = instanceKey(change);
  const isNew = change.op === 'create';
  const query = useQuery({ ...useLive().journal.state(key, seq - 1), enabled: !isNew });
  const shown = (before: EntityInstance['state'] | null) => {
    const after = applied(before, change);
    return (
      <Diff
        label={`Change of ${key}`}
        left={before ?? undefined}
        right={after ?? undefined}
        onlyChanges={before !== null && after !== null}
      />
    );
  };
  return (
    <>
      <p className="mb-1 text-sm">
        <span className="font-medium break-all">{key}</span>{' '}
        <span className="text-muted">
          {OPS[change.op]}, revision {change.revision}
        </span>
      </p>
      {isNew ? (
        shown(null)
      ) : (
        <Await query={query} what="the state before">
          {shown}
        </Await>
      )}
    </>
  );
}

type State = EntityInstance['state'];
export type InstanceChange = components['schemas']['InstanceChange'];

/** What a change leaves of a state (docs/history.md); null: absent. */
export function applied(before: State | null, { op, set, unset }: InstanceChange): State | null {
  if (op === 'delete') return null;
  const kept = Object.entries(op === 'create' ? {} : (before ?? {}));
  return { ...Object.fromEntries(kept.filter(([attribute]) => !unset.includes(attribute))), ...set };
}
